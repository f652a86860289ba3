"""The kernel that Python calls for a decision."""

from agents.reveal_search.candidates import SEEN, propose, unknown_cards
from agents.reveal_search.judging import judge
from yukon_env.engine.compiling import kernel


@kernel
def search_plans(room, lore, candidates, base, effort):
    """Proposes plans for `room.games[SEEN]` and judges them.

    Args:
        room: A `Room`.
        lore: A `Lore`.
        candidates: `Candidates`, overwritten.
        base: uint64: names the worlds, see `deal_world`.
        effort: EFFORT, shape (1,).

    Returns:
        The number of plans; `room.order` lists them, the best first.
    """
    unknown = unknown_cards(room.games[SEEN])
    n = propose(room, lore, candidates, unknown, base, effort[0])
    judge(room, lore, candidates, n, base, effort[0])
    return n
