"""Many games at once, with their episodes, into buffers that the caller owns.

An environment of one game and one of thousands call the same kernels on arrays of another
length, so the rules of an episode (new deals, reward, endings, illegal actions) are written once.
"""

import numpy as np
from numba import njit

from yukon_env.cards import N_CARDS
from yukon_env.deals import draw_deal, fill_deck, mix
from yukon_env.engine.compiling import inlined, kernel
from yukon_env.engine.moves import deal, is_legal, is_won, play
from yukon_env.engine.state import N_ACTIONS, NO_CARD, POSITION, ROW, STOCK, ZONE
from yukon_env.variants import N_COLUMNS

EPISODE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # The random stream that deals are drawn from (see `deals.next_word`).
                ("stream", np.uint64),
                # The deal being played; BY_HAND for a deck or board that somebody gave.
                ("deal", np.int64),
                ("steps", np.int64),
                # What the last step gave.
                ("reward", np.float64),
                ("terminated", np.bool_),
                ("truncated", np.bool_),
                ("illegal", np.bool_),
                ("won", np.bool_),
            ],
            align=True,
        ),
    )
)
BY_HAND = -1
# How far the random words of neighbouring games are apart.
WORD_STEP = np.uint64(0xD1B54A32D192ED03)
# How many games before its turn a game is fetched from memory: about a tenth faster.
AHEAD = 2

SETTINGS = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("perfect_information", np.bool_),
                ("terminate_illegal", np.bool_),
                # Whether a step deals a game that is over anew, instead of playing it.
                ("reset_on_step", np.bool_),
                # Steps after which a game is truncated.
                ("max_steps", np.int64),
                # Weight and discount of the potential-based shaping reward.
                ("shaping", np.float64),
                ("discount", np.float64),
                # A `deals.DealSource` without its pool.
                ("first_deal", np.int64),
                ("n_deals", np.uint64),
            ],
            align=True,
        ),
    )
)


@kernel
def draw_games(games, episodes, rules, settings, pool, which):
    """Starts a new episode, on a deal drawn from the episode's own stream, where `which` says so.

    Args:
        games: GAME, shape (n,).
        episodes: EPISODE, shape (n,).
        rules: RULES, shape (1,).
        settings: SETTINGS, shape (1,).
        pool: int64: the deal numbers to draw from; empty when the settings give a range.
        which: bool, shape (n,).
    """
    deck = np.empty(N_CARDS, np.uint8)
    scratch = np.empty(1, np.uint64)
    for index in range(len(games)):
        if which[index]:
            _draw_game(games[index], episodes[index], rules[0], settings[0], pool, deck, scratch)


@kernel
def step_games(games, episodes, rules, settings, pool, actions, observations, masks):
    """Plays one action in each game and writes what is seen after it.

    Args:
        games: GAME, shape (n,).
        episodes: EPISODE, shape (n,).
        rules: RULES, shape (1,).
        settings: SETTINGS, shape (1,).
        pool: int64: the deal numbers to draw from; empty when the settings give a range.
        actions: int64, shape (n,); ignored where a game is dealt anew.
        observations: int8, shape (n, 156): written, three numbers for each card; not if it is
            empty.
        masks: int8, shape (n, 417): written.

    Returns:
        Whether the actions are numbers from 0 to 416; if not, nothing is done.
    """
    if not are_actions(actions):
        return False
    step_part(
        games, episodes, rules, settings, pool, actions, observations, masks, 0, len(games)
    )  # fmt: skip
    return True


@njit
def are_actions(actions):
    """Whether all actions (int64, (n,)) are numbers from 0 to 416."""
    inside = True
    for index in range(len(actions)):
        inside &= 0 <= actions[index] < N_ACTIONS
    return inside


@njit
def step_part(
    games, episodes, rules, settings, pool, actions, observations, masks, start, stop
):  # fmt: skip
    """Does what `step_games` does, for the games from `start` to `stop`, actions unchecked.

    Returns:
        Nothing of use: as long as this is a function of its own in the compiled code, it keeps
        the compiler from leaving out the reads of `_fetch`.
    """
    deck = np.empty(N_CARDS, np.uint8)
    scratch = np.empty(1, np.uint64)
    fetched = 0
    for index in range(start, stop):
        fetched += _fetch(games[min(index + AHEAD, stop - 1)])
        game, episode = games[index], episodes[index]
        if _is_dealt_anew(episode, settings[0]):
            _draw_game(game, episode, rules[0], settings[0], pool, deck, scratch)
        else:
            _step_game(game, episode, rules[0], settings[0], actions[index])
        if len(observations) > 0:
            _write_observation(game, settings[0].perfect_information, observations[index])
        _write_mask(game, masks[index])
    return fetched


@njit
def _fetch(game):
    """Reads a byte of each cache line that a step needs, so that they are there in time."""
    return game.seen[0] + game.seen[64] + game.seen[128] + game.above[0] + game.legal[0]


@kernel
def read_results(episodes, rewards, terminated, truncated, deals, won, illegal):
    """Copies what the last step gave (EPISODE, (n,)) into arrays of shape (n,), one a field.

    In one pass, that is, far faster than NumPy copies the fields one by one.
    """
    for index in range(len(episodes)):
        episode = episodes[index]
        rewards[index] = episode.reward
        terminated[index] = episode.terminated
        truncated[index] = episode.truncated
        deals[index] = episode.deal
        won[index] = episode.won
        illegal[index] = episode.illegal


@kernel
def first_illegal(games, episodes, settings, actions):
    """Index of the first game (GAME, (n,)) that would play an illegal action, or -1."""
    for index in range(len(games)):
        game = games[index]
        plays = game.n_legal > 0 and not _is_dealt_anew(episodes[index], settings[0])
        if plays and not is_legal(game, actions[index]):
            return index
    return -1


@njit
def _is_dealt_anew(episode, settings):
    """Whether the next step deals a game anew instead of playing it."""
    return settings.reset_on_step and (episode.terminated or episode.truncated)


@kernel
def observe_games(games, settings, observations, masks, which):
    """Writes observations (int8, (n, 156), or empty) and masks (int8, (n, 417)) of `which`."""
    for index in range(len(games)):
        if which[index]:
            if len(observations) > 0:
                perfect_information = settings[0].perfect_information
                _write_observation(games[index], perfect_information, observations[index])
            _write_mask(games[index], masks[index])


@kernel
def sample_actions(games, sampler, actions):
    """Draws an action for each game, uniformly over its mask.

    Args:
        games: GAME, shape (n,).
        sampler: uint64, shape (1,): fixes the draws, and moves on.
        actions: int64, shape (n,): written.
    """
    sampler[0] += np.uint64(1)
    sample_part(games, sampler[0], actions, 0, len(games))


@njit
def sample_part(games, number, actions, start, stop):
    """Draws actions, fixed by a number (uint64), for the games from `start` to `stop`."""
    word = mix(number)
    for index in range(start, stop):
        bits = mix(word + np.uint64(index) * WORD_STEP) >> np.uint64(32)
        n_legal = int(games[index].n_legal)
        # Of 2^32 draws some numbers get one more than others: less than can ever be measured.
        place = np.int64(bits * np.uint64(max(n_legal, 1)) >> np.uint64(32))
        if n_legal > 0:
            actions[index] = games[index].legal[place]
        else:
            actions[index] = np.int64(bits * np.uint64(N_ACTIONS) >> np.uint64(32))


@njit
def _draw_game(game, episode, rules, settings, pool, deck, scratch):
    scratch[0] = episode.stream
    episode.deal = draw_deal(scratch, settings.first_deal, settings.n_deals, pool)
    episode.stream = scratch[0]
    fill_deck(episode.deal, deck, scratch)
    deal(game, rules, deck)
    start_episode(episode)


@njit
def start_episode(episode):
    """Clears what the steps of the last episode left."""
    episode.steps = 0
    episode.reward = 0.0
    episode.terminated = False
    episode.truncated = False
    episode.illegal = False
    episode.won = False


@njit
def _step_game(game, episode, rules, settings, action):
    """Plays an action if it is legal, and judges what came of it."""
    was_over = game.n_legal == 0
    legal = is_legal(game, action)
    shaped = settings.shaping != 0.0 and not was_over
    before = potential(game, rules) if shaped else 0.0
    if legal:
        play(game, rules, action)
    episode.steps += 1
    episode.illegal = not legal and not was_over
    episode.won = is_won(game)
    episode.terminated = game.n_legal == 0 or (episode.illegal and settings.terminate_illegal)
    # As Gymnasium's TimeLimit has it: the last step allowed truncates, whatever else it does.
    episode.truncated = episode.steps >= settings.max_steps
    episode.reward = 1.0 if episode.won and not was_over else 0.0
    if shaped:
        # The potential of a terminal state is 0, or shaping would change the best policy: Ng,
        # Harada and Russell, "Policy invariance under reward transformations", ICML 1999.
        after = 0.0 if episode.terminated else potential(game, rules)
        episode.reward += settings.shaping * (settings.discount * after - before)


@kernel
def potentials(games, rules, values):
    """Writes the potential (float64, (n,)) of each game (GAME, (n,))."""
    for index in range(len(games)):
        values[index] = potential(games[index], rules[0])


@njit
def potential(game, rules):
    """Progress, 0 to 1: cards up and cards revealed, of all that can be; what shaping pays."""
    hidden = 0
    up = 0
    for column in range(N_COLUMNS):
        hidden += rules.hidden[column]
    for suit in range(len(game.up)):
        up += game.up[suit]
    return (up + hidden - game.n_hidden) / (N_CARDS + hidden)


@inlined
def _write_observation(game, perfect_information, observation):
    for entry in range(ROW * N_CARDS):
        observation[entry] = game.seen[entry]
    if perfect_information:
        _write_hidden(game, observation)


@inlined
def _write_hidden(game, observation):
    """Adds the true places of the hidden cards."""
    for column in range(N_COLUMNS):
        card = game.end[column]
        position = game.seen[ROW * card + POSITION]
        while card != NO_CARD:
            observation[ROW * card + ZONE] = column
            observation[ROW * card + POSITION] = position
            position -= 1
            card = game.beneath[card]
    for index in range(game.n_waste, game.n_pile):
        card = game.pile[index]
        observation[ROW * card + ZONE] = STOCK
        observation[ROW * card + POSITION] = index - game.n_waste


@inlined
def _write_mask(game, mask):
    # A loop of known length: the compiler turns `mask[:]` into a call.
    over = game.n_legal == 0
    for action in range(N_ACTIONS):
        mask[action] = over
    for index in range(game.n_legal):
        mask[game.legal[index]] = 1
