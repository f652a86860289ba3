"""The error that the study raises for bad input."""

from yukon_env.errors import YukonError


class StudyError(YukonError):
    """A dataset is missing, damaged or of another version, or cannot be made as asked."""
