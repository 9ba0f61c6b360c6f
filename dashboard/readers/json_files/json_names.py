"""Names of the members of a JSON object, none of which may stand twice."""

from hashlib import blake2b

from dashboard.readers.refusal import FileError, quoted

_MOST = 1_000_000


class Names:
    """Names of the members of an object, kept only where they do not count up from 0."""

    def __init__(self) -> None:
        self.n_counted = 0
        self.seen: set[str] | None = None
        self.hashed = blake2b()

    def add(self, names: list[str]) -> None:
        """Add names, none of which may stand twice."""
        if self.seen is None:
            further = self.n_counted + len(names)
            if names == list(map(str, range(self.n_counted, further))):
                self.n_counted = further
                return
            counted = list(map(str, range(min(self.n_counted, _MOST + 1))))
            self.seen = {*counted}
            self._hash(counted)
        if len(self.seen) + len(names) > _MOST:
            raise FileError("object", "too many members", "lists for rows")
        if len({*names}) < len(names) or not self.seen.isdisjoint(names):
            twice = next(n for k, n in enumerate(names) if n in self.seen or n in names[:k])
            raise FileError("object", f"member {quoted(twice, 40)} twice", "each member once")
        self.seen.update(names)
        self._hash(names)

    def digest(self) -> bytes:
        """Tell these names in their order from others."""
        return b"%d" % self.n_counted if self.seen is None else self.hashed.digest()

    def _hash(self, names: list[str]) -> None:
        self.hashed.update("".join(map(repr, names)).encode())
