"""Where tensors live, by the name that the config gives it."""

import re

import torch

from memserver_trainers.errors import InvalidValue


def device_of(name: str) -> torch.device:
    """Raises `InvalidValue` for a name that is none and for a device that this machine lacks."""
    named = re.fullmatch(r"cpu|cuda(?::(\d+))?", name)
    if not named:
        raise InvalidValue("device", name, "cpu, cuda, or one of several such as cuda:0")
    if name != "cpu" and int(named[1] or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise InvalidValue("device", name, f"there: torch sees {count} CUDA devices here")
    return torch.device(name)
