"""llama.cpp's own server over a tiny model with random weights: `python -m proofs._llama_server GGUF PORT`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

EMBEDDING, HEADS, HIDDEN, CONTEXT = 64, 4, 128, 8192


def make_gguf(path: Path, *, seed: int = 0) -> None:
    """A one-layer model that knows bytes and a few pieces of words; its weights mean nothing."""
    import gguf

    rng = np.random.default_rng(seed)
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "▁the", "▁a", "e", "s", "t"]
    kinds = [2, 3, 3, *([6] * 256), *([1] * 6)]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([-float(index) for index in range(len(pieces))])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}\n{% endfor %}")
    shapes = {
        "token_embd.weight": (len(pieces), EMBEDDING),
        "output.weight": (len(pieces), EMBEDDING),
        **{f"blk.0.attn_{name}.weight": (EMBEDDING, EMBEDDING) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (HIDDEN, EMBEDDING),
        "blk.0.ffn_up.weight": (HIDDEN, EMBEDDING),
        "blk.0.ffn_down.weight": (EMBEDDING, HIDDEN),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, (rng.standard_normal(shape) * 0.2).astype(np.float32))
    for name in ("output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"):
        writer.add_tensor(name, np.ones(EMBEDDING, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path, port: int) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx, parameters.n_parallel, parameters.n_threads_http = 4 * CONTEXT, 4, 16
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.use_jinja = True
    parameters.cache_prompt = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
