"""What a program is for: training, serving, a batch job, a test, a demonstration.

Judged by what the whole program calls, since a single call (`prepare_model_for_kbit_training`)
tells it for the file. Importing peft is no proof of training: adapters are served, too.
"""

from dataclasses import dataclass

from ecolint.facts import Role
from ecolint.frontends.python.slicing import Slice

_TRAINING = frozenset(
    {
        "prepare_model_for_kbit_training", "prepare_model_for_int8_training", "get_peft_model",
        "LoraConfig", "LoftQConfig", "AdaLoraConfig", "PromptTuningConfig", "PrefixTuningConfig",
        "SFTConfig", "DPOConfig", "GRPOConfig", "PPOConfig", "RewardConfig", "KTOConfig",
        "ORPOConfig", "convert_to_float8_training", "for_training",
        "enable_input_require_grads", "backward", "gradient_checkpointing_enable",
    }
)  # fmt: skip
_TRAINING_ENDS = ("Trainer", "TrainingArguments")
_SERVERS = frozenset(
    {
        "FastAPI", "APIRouter", "Flask", "Quart", "Sanic", "Starlette", "Litestar", "LitServer",
        "Robyn", "AsyncServer",
    }
)  # fmt: skip
_ROUTES = frozenset(
    {
        "post", "put", "route", "websocket", "api_route", "deployment", "service", "cls",
        "fastapi_endpoint", "web_endpoint", "asgi_app", "on_message",
    }
)  # fmt: skip
_INTERACTIVE = frozenset(
    {"Interface", "ChatInterface", "Blocks", "input", "chat_input", "text_input", "text_area"}
)
_EVALUATION = frozenset(
    {"simple_evaluate", "load_metric", "perplexity", "compute_perplexity", "evaluate_model"}
)
_TESTS = frozenset({"TestCase", "parametrize", "fixture"})
_BENCHMARKS = frozenset({"do_bench", "Timer", "perf_report"})
_BATCH = frozenset({"iterrows", "itertuples", "DataLoader", "load_dataset", "read_csv", "writerow"})


@dataclass(frozen=True, slots=True)
class Purpose:
    """The role of a program, and whether it also serves requests."""

    role: Role
    serves: bool


def of(part: Slice) -> Purpose:
    """Judge a whole program by its calls and decorators."""
    calls, decorators = part.calls, part.decorators
    # Chainlit's routes serve one person's chat.
    serves = bool(calls & _SERVERS or decorators & _ROUTES) and "chainlit" not in part.libraries
    training = bool(calls & _TRAINING) or any(name.endswith(_TRAINING_ENDS) for name in calls)
    if decorators & _TESTS or calls & _TESTS or part.libraries & {"pytest", "unittest"}:
        role = Role.TEST
    elif training:
        role = Role.TRAINING
    elif calls & _BENCHMARKS:
        role = Role.BENCHMARK
    elif serves:
        role = Role.SERVICE
    elif calls & _INTERACTIVE or "chainlit" in part.libraries:
        role = Role.INTERACTIVE
    elif calls & _EVALUATION or "lm_eval" in part.libraries:
        role = Role.EVALUATION
    elif calls & _BATCH:
        role = Role.BATCH
    else:
        role = Role.INFERENCE
    return Purpose(role, serves)
