"""Networks that give each move on offer a logit and each position a value.

One class serves all variants, also several at once: what tells games apart is computed with the
rules of the game that each position belongs to.
"""

from agents.networks.base import Network, Offers, Rulebook
from agents.networks.cards import CardNetwork
from agents.networks.moves import MoveNetwork

# By the names that configurations and model files use.
NETWORKS: dict[str, type[Network]] = {"moves": MoveNetwork, "cards": CardNetwork}

__all__ = ["NETWORKS", "CardNetwork", "MoveNetwork", "Network", "Offers", "Rulebook"]
