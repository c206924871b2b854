"""What a person can mend before training: the command prints it as one line and exits with 1."""

import difflib
from collections.abc import Iterable


class TrainingError(Exception):
    """Base of every refusal; its text says what is wrong and, where known, what to do."""


class NotInstalled(TrainingError):
    def __init__(self, package: str) -> None:
        super().__init__(f"The package {package} is missing; install 'memserver[train]'.")


class UnknownKey(TrainingError):
    def __init__(self, key: str, known: Iterable[str], *, where: str) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(key, names, n=1, cutoff=0.0)
        super().__init__(f"{where} has the unknown key {key!r}; did you mean {near[0]!r}?")
        self.key = key
        self.nearest = near[0]


class InvalidValue(TrainingError):
    def __init__(self, key: str, value: object, wanted: str) -> None:
        super().__init__(f"{key} is {value!r}, but it must be {wanted}.")
        self.key = key


class MissingKey(TrainingError):
    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is not given: name it in the config file or as --{key}.")
        self.key = key


class InvalidConfig(TrainingError):
    def __init__(self, file: object, reason: str) -> None:
        super().__init__(f"The config file {file} cannot be read: {reason}.")


class InvalidDataset(TrainingError):
    """The dataset folder is not what its manifest or its format promises."""

    def __init__(self, place: object, reason: str) -> None:
        super().__init__(f"{place}: {reason}.")
        self.reason = reason


class NothingToLearn(TrainingError):
    """The data is sound, but holds nothing that this recipe can learn from."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"There is nothing to learn: {reason}.")
        self.reason = reason


class Drifted(TrainingError):
    """The run that would be resumed was another one."""

    def __init__(self, key: str, *, was: object, now: object) -> None:
        super().__init__(
            f"The checkpoint was made with {key} = {was!r}, now it is {now!r}."
            " Train anew with --resume never, or put it back."
        )
        self.key = key


class NoCheckpoint(TrainingError):
    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"{path} cannot be resumed from: {reason}.")


class Diverged(TrainingError):
    def __init__(self, step: int) -> None:
        super().__init__(f"The loss of step {step} is not a number; try a lower learning_rate.")
        self.step = step
