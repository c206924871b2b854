"""`memserver serve` whose encoder fails on texts that hold a certain word, with an exception that
quotes them, as drivers and libraries do."""

import numpy as np
import numpy.typing as npt

from tests.fakes.encoder import HashEncoder
from tests.integration.cheap_server import cheap_parts, main

TRAP = "unencodable"


class QuotingEncoder(HashEncoder):
    """Fails where the text holds `TRAP`."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        _refuse(text)
        return super().encode_query(text)

    def windows(self, text: str) -> tuple[str, ...]:
        _refuse(text)
        return super().windows(text)


def _refuse(text: str) -> None:
    if TRAP in text:
        raise RuntimeError(f"no tensor for {text!r}")


if __name__ == "__main__":
    main(lambda settings: cheap_parts(settings, QuotingEncoder()))
