"""What a program is for: training, serving, a batch job, a test, a demonstration.

Read from the text as a whole, since a single call (`prepare_model_for_kbit_training`) tells
it for the file. Importing peft is no proof of training: adapters are served, too.
"""

import re
from dataclasses import dataclass

from ecolint.facts import Role

_TRAINING = re.compile(
    r"\b(prepare_model_for_kbit_training|prepare_model_for_int8_training|get_peft_model"
    r"|LoraConfig|LoftQConfig|AdaLoraConfig|PromptTuningConfig|PrefixTuningConfig"
    r"|\w*Trainer|\w*TrainingArguments|SFTConfig|DPOConfig|GRPOConfig|PPOConfig|RewardConfig"
    r"|KTOConfig|ORPOConfig|convert_to_float8_training|for_training|enable_input_require_grads"
    r")\s*\(|\.backward\(|\boptimizer\.step\(|gradient_checkpointing_enable\(|\.train\(\)"
    r"|\bgradient_checkpointing\s*=\s*True|deepspeed\.initialize\("
)
_INFERENCE_ONLY = re.compile(r"\bfor_inference\s*\(")
_SERVICE = re.compile(
    r"\b(FastAPI|APIRouter|Flask|Quart|Sanic|Starlette|Litestar|AsyncServer|LitServer|Robyn)\s*\("
    r"|@\w+\.(post|get|put|route|websocket|api_route)\s*\(|@serve\.deployment|@bentoml\.(service|api)"
    r"|\bBaseHTTPRequestHandler\b|\bgrpc\.(aio\.)?server\(|@(app|stub)\.cls\(|runpod\.serverless"
    r"|\bdef (predict_fn|model_fn|lambda_handler)\s*\(|uvicorn\.run\("
)
_INTERACTIVE = re.compile(
    r"\b(gr\.(Interface|ChatInterface|Blocks)|gradio|streamlit|chainlit)\b|\binput\(\s*[\"'f)]"
)
_EVALUATION = re.compile(
    r"\b(lm_eval|simple_evaluate|load_metric|evaluate\.load|lighteval|mteb)\b"
    r"|\b(compute_)?(perplexity|bleu|rouge|mmlu|humaneval|gsm8k)\w*\s*\(",
    re.IGNORECASE,
)
_TEST = re.compile(r"^\s*(import|from)\s+(pytest|unittest)\b", re.MULTILINE)
_TEST_BODY = re.compile(r"^\s*(async\s+)?def test_|\bTestCase\b|@pytest\.", re.MULTILINE)
_BENCHMARK = re.compile(
    r"\btorch\.utils\.benchmark\b|\btriton\.testing\b|do_bench\(|\bpytest_benchmark\b"
)
_BATCH = re.compile(
    r"\bfor\s+\w[\w, ]*\s+in\s+(tqdm|dataset|rows|records|df)\b|\.iterrows\(\)|\bqueue\.get\("
)


@dataclass(frozen=True, slots=True)
class Purpose:
    """The role of a program, and whether it also serves requests or runs over many rows."""

    role: Role
    serves: bool
    interactive: bool


def of(text: str) -> Purpose:
    """Judge a whole program's text."""
    serves = bool(_SERVICE.search(text))
    interactive = bool(_INTERACTIVE.search(text))
    if _TEST.search(text) and _TEST_BODY.search(text):
        role = Role.TEST
    elif _TRAINING.search(text) and not (_INFERENCE_ONLY.search(text) and not serves):
        role = Role.TRAINING
    elif _BENCHMARK.search(text):
        role = Role.BENCHMARK
    elif serves:
        role = Role.SERVICE
    elif interactive:
        role = Role.INTERACTIVE
    elif _EVALUATION.search(text):
        role = Role.EVALUATION
    elif _BATCH.search(text):
        role = Role.BATCH
    else:
        role = Role.INFERENCE
    return Purpose(role, serves, interactive)
