"""The default format: the concise one."""

from ecolint.output.concise import write

__all__ = ["write"]
