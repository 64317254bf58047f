"""The rules that ship with ecolint: one module a rule, found by `ecolint.registry`."""
