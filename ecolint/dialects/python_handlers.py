"""Who calls a function of a program: servers, task queues, maps over many items.

Sources: the manuals of FastAPI, Flask, Starlette, aiohttp, Django, DRF, Celery, dramatiq,
FastStream, functions-framework, Ray Serve, BentoML, Modal, LitServe, TorchServe, Cog, MLflow,
python-telegram-bot, pandas, polars, datasets, concurrent.futures, multiprocessing.
"""

import re

# Last names of decorators under which a function is called once a request.
ROUTES = frozenset(
    {
        "post", "get", "put", "patch", "route", "websocket", "api_route", "deployment", "service",
        "cls", "api", "fastapi_endpoint", "web_endpoint", "http_endpoint", "asgi_app",
        "on_message", "event", "message_handler", "method", "endpoint", "task", "csrf_exempt",
        "api_view", "shared_task", "actor", "subscriber", "http", "cloud_event", "on_request",
        "agent",
    }
)  # fmt: skip
# The same on the source of a decorator, where the bare name would say too little.
ROUTE = re.compile(
    r"\.(post|get|put|patch|route|websocket|api_route|event|on_message|message_handler"
    r"|fastapi_endpoint|web_endpoint|endpoint|task|method|subscriber|actor|agent|on_request)\b"
    r"|\b(bentoml\.api|api_view|http_endpoint|csrf_exempt|shared_task|functions_framework\.\w+)\b"
)
HANDLER_BASES = re.compile(
    r"LitAPI|Handler$|Servicer$|BasePredictor|PythonModel|Resource$|View$|TritonPythonModel"
)
HANDLER_FUNCTIONS = frozenset({"predict_fn", "lambda_handler", "handler"})
HANDLER_METHODS = frozenset(
    {
        "predict_fn", "lambda_handler", "do_POST", "do_GET", "predict", "inference", "infer",
        "__call__", "handle", "post", "execute",
    }
)  # fmt: skip
# Calls that run the function they are given once an item.
MAPPERS = frozenset(
    {
        "apply", "map", "progress_apply", "parallel_apply", "progress_map", "map_elements",
        "imap", "imap_unordered", "starmap", "applymap", "transform", "foreach", "amap",
        "process_map", "thread_map",
    }
)  # fmt: skip
# Calls that run the function they are given once a request or message.
REGISTRARS = frozenset(
    {
        "add_api_route", "add_url_rule", "add_post", "add_route", "Route", "add_websocket_route",
        "add_api_websocket_route", "MessageHandler", "CommandHandler", "basic_consume",
        "subscribe", "add_handler",
    }
)  # fmt: skip
