"""Card numbers and their text.

A card is the number `suit * 13 + rank`: suits C D H S are 0..3, ranks A 2 ... K are 0..12.
Its text is the rank, then the suit: `AC`, `TD`, `KH`.
"""

from yukon_env.errors import CardError

SUITS = "CDHS"
RANKS = "A23456789TJQK"
N_SUITS = 4
N_RANKS = 13
N_CARDS = 52


def card_text(card: int) -> str:
    """Returns the text of a card number: 0 is `AC`, 51 is `KS`."""
    return RANKS[card % N_RANKS] + SUITS[card // N_RANKS]


def parse_card(text: str) -> int:
    """Reads a card: `7H`, and also `10D` for the ten and lower case.

    Raises:
        CardError: The text is no card; the message says which part is wrong.
    """
    rank, suit = text[:-1].upper().replace("10", "T"), text[-1:].upper()
    if len(rank) != 1 or rank not in RANKS:
        raise CardError(f"{text!r} is no card: the rank must be one of {' '.join(RANKS)} (or 10)")
    if suit not in SUITS:
        raise CardError(f"{text!r} is no card: the suit must be one of {' '.join(SUITS)}")
    return SUITS.index(suit) * N_RANKS + RANKS.index(rank)
