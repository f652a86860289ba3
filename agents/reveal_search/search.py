"""The kernel that Python calls for a decision."""

from agents.reveal_search.candidates import SEEN, propose, unknown_cards
from agents.reveal_search.judging import judge
from yukon_env.engine.compiling import kernel


@kernel
def search_plans(
    room, lore, candidates, base, n_solved, max_states, n_orders, n_options,
    weight, n_worlds, n_finalists, n_more,
):  # fmt: skip
    """Proposes plans for `room.games[SEEN]` and judges them.

    The arguments are those of `propose` and `judge`.

    Returns:
        The number of plans; `room.order` lists them, the best first.
    """
    unknown = unknown_cards(room.games[SEEN])
    n = propose(room, lore, candidates, unknown, base, n_solved, max_states, n_orders, n_options)
    judge(room, lore, candidates, n, base, weight, n_worlds, n_finalists, n_more)
    return n
