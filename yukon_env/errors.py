"""The errors this package raises for bad input; each is a `ValueError`."""


class YukonError(ValueError):
    """Base class of every error that this package raises for bad input."""


class CardError(YukonError):
    """Text or a number that is no card."""


class VariantError(YukonError):
    """An unknown variant, or a declaration that describes no playable game."""


class DealError(YukonError):
    """A deal number, a set of deals or a deck that cannot be dealt."""


class BoardError(YukonError):
    """A board that no game could show: a card twice, a card missing, a line that is no column."""


class MoveError(YukonError):
    """A move that is illegal in this position, or text or a number that is no move."""
