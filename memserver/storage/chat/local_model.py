"""Answers from a transformers model in this process."""

import threading
from pathlib import Path
from typing import Any

from memserver.domain.errors import ChatFailed, Invalid
from memserver.domain.ports.chat import Completion

TEMPLATE_TOKENS = 64
GGUF = ".gguf"


class UnusableChatModel(Invalid):
    code = "unusable_chat_model"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The chat model {name} cannot be used: {reason}.")


class LocalChatModel:
    """`model` is a hub id, a folder, or a GGUF file, which needs the packages gguf and accelerate.
    The most likely token is taken each time, so the same question has the same answer. One answer
    is made at a time, within `patience_s`; loading takes seconds and is done here.
    """

    def __init__(self, model: str, *, device: str = "cpu", patience_s: float = 120.0) -> None:
        path = Path(model)
        self._name = path.name if path.exists() else model
        self._patience_s = patience_s
        self._turn = threading.Lock()
        self._model, self._tokenizer = _load(path, model, device)
        self._longest = getattr(self._model.config, "max_position_embeddings", None)

    @property
    def name(self) -> str:
        return self._name

    def complete(self, system: str, user: str, *, max_tokens: int) -> Completion:
        import torch

        asked = self._tokens(system, user)
        length = asked["input_ids"].shape[1]
        if self._longest is not None and length + max_tokens > self._longest:
            raise ChatFailed(f"it reads {self._longest} tokens at most")
        if not self._turn.acquire(timeout=self._patience_s):
            raise ChatFailed("it is busy")
        try:
            with torch.inference_mode():
                made = self._model.generate(
                    **asked,
                    max_new_tokens=max_tokens,
                    max_time=self._patience_s,
                    do_sample=False,
                    pad_token_id=self._tokenizer.eos_token_id,
                )[0][length:]
        except RuntimeError as error:
            # Out of memory, as a rule: the next question may be shorter.
            raise ChatFailed(type(error).__name__, spent=True) from None
        finally:
            self._turn.release()
        text: str = self._tokenizer.decode(
            made, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        cut = int(made[-1]) not in self._ends() if len(made) else False
        return Completion(text, length + len(made), cut=cut)

    def most_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False)) + TEMPLATE_TOKENS

    def close(self) -> None:
        """Its memory goes with the process."""

    def _tokens(self, system: str, user: str) -> Any:
        if self._tokenizer.chat_template is None:
            return self._tokenizer(f"{system}\n\n{user}\n\n", return_tensors="pt").to(
                self._model.device
            )
        from jinja2.exceptions import TemplateError

        said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return self._templated(said)
        except TemplateError:
            # Templates of some models know no system.
            return self._templated([{"role": "user", "content": f"{system}\n\n{user}"}])

    def _templated(self, said: list[dict[str, str]]) -> Any:
        return self._tokenizer.apply_chat_template(
            said, add_generation_prompt=True, return_tensors="pt", return_dict=True
        ).to(self._model.device)

    def _ends(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        named = ends if isinstance(ends, list) else [ends]
        return {end for end in (*named, self._tokenizer.eos_token_id) if end is not None}


def _load(path: Path, model: str, device: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    source, options = model, {}
    if path.suffix == GGUF:
        source, options = str(path.parent), {"gguf_file": path.name}
    progress: Any = logging
    shown = progress.is_progress_bar_enabled()
    progress.disable_progress_bar()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source, **options)
        loaded: Any = AutoModelForCausalLM.from_pretrained(source, **options)
        return loaded.to(device).eval(), tokenizer
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise UnusableChatModel(model, reason) from error
    finally:
        if shown:
            progress.enable_progress_bar()
