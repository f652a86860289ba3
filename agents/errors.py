"""The error that the agents raise for bad input."""

from yukon_env.errors import YukonError


class AgentError(YukonError):
    """An unknown agent, weights that do not fit, or arrays that are no observation or mask."""
