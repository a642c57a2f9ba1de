"""The providers of models: what each can do, where its prices are published, which key and which client it needs.

One table, asked by everybody. A provider is known by the part of a model string before the first slash, as Inspect
names it. Inspect may know more of them, from packages a user has installed; nothing is assumed of those.
"""

from __future__ import annotations

from dataclasses import dataclass

IN_THE_EXTRA = frozenset({"openai", "anthropic", "google-genai"})
"""What `pip install 'guildhall[providers]'` brings."""


@dataclass(frozen=True)
class Provider:
    """One provider.

    `holds_to_schema` says that it holds a model to a JSON schema by itself; a router that hands questions on cannot
    promise that. `prices` is the name under which its list prices are published. Any one of `keys` lets a caller in.
    `package` is what its client is installed from, and `module` how that is imported.
    """

    name: str
    title: str
    holds_to_schema: bool = False
    prices: str | None = None
    keys: tuple[str, ...] = ()
    package: str | None = None
    module: str | None = None

    @property
    def install(self) -> str | None:
        """The command that brings its client; None where none is needed."""
        if self.package is None:
            return None
        return "pip install 'guildhall[providers]'" if self.package in IN_THE_EXTRA else f"pip install {self.package}"


def _by_openai_client(name: str, title: str, *keys: str, prices: str | None = None, schema: bool = False) -> Provider:
    return Provider(name, title, schema, prices, keys, "openai", "openai")


PROVIDERS: dict[str, Provider] = {
    one.name: one
    for one in (
        Provider("openai", "OpenAI", True, "openai", ("OPENAI_API_KEY",), "openai", "openai"),
        Provider("anthropic", "Anthropic", True, "anthropic", ("ANTHROPIC_API_KEY",), "anthropic", "anthropic"),
        Provider(
            "google", "Google", True, "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google-genai", "google.genai"
        ),
        Provider("grok", "xAI", True, "x-ai", ("XAI_API_KEY", "GROK_API_KEY"), "xai_sdk", "xai_sdk"),
        Provider("mistral", "Mistral", True, "mistral", ("MISTRAL_API_KEY",), "mistralai", "mistralai"),
        Provider("groq", "Groq", True, "groq", ("GROQ_API_KEY",), "groq", "groq"),
        _by_openai_client("openrouter", "OpenRouter", "OPENROUTER_API_KEY", prices="openrouter"),
        _by_openai_client("deepseek", "DeepSeek", "DEEPSEEK_API_KEY", prices="deepseek"),
        _by_openai_client("fireworks", "Fireworks", "FIREWORKS_API_KEY", prices="fireworks"),
        _by_openai_client("moonshot", "Moonshot", "MOONSHOT_API_KEY", prices="moonshotai"),
        _by_openai_client("perplexity", "Perplexity", "PERPLEXITY_API_KEY", prices="perplexity"),
        _by_openai_client("together", "Together", "TOGETHER_API_KEY", prices="together"),
        _by_openai_client("sambanova", "SambaNova", "SAMBANOVA_API_KEY"),
        _by_openai_client("cloudflare", "Cloudflare", "CLOUDFLARE_API_KEY", "CLOUDFLARE_API_TOKEN"),
        _by_openai_client("hf-inference-providers", "Hugging Face", "HF_TOKEN"),
        _by_openai_client("litellm-proxy", "LiteLLM", "LITELLM_PROXY_API_KEY", "LITELLM_API_KEY"),
        _by_openai_client("meta", "Meta", "META_API_KEY", "MODEL_API_KEY"),
        _by_openai_client("openai-api", "a server that speaks like OpenAI"),
        _by_openai_client("openai-api-completions", "a server that speaks like OpenAI"),
        _by_openai_client("vllm", "vLLM", schema=True),
        _by_openai_client("vllm-completions", "vLLM"),
        _by_openai_client("sglang", "SGLang", schema=True),
        _by_openai_client("ollama", "Ollama"),
        _by_openai_client("llama-cpp-python", "llama.cpp"),
        Provider("azureai", "Azure AI", prices="azure", keys=("AZUREAI_API_KEY", "AZURE_API_KEY")),
        Provider("bedrock", "Bedrock", prices="aws"),
        Provider("sagemaker", "SageMaker"),
        Provider("hf", "Hugging Face on this machine"),
        Provider("nnterp", "nnterp"),
        Provider("transformer_lens", "TransformerLens"),
        Provider("mockllm", "Inspect's mock model"),
        Provider("none", "no model"),
        Provider("scripted", "a Python function"),
    )
}


def provider_of(model: str) -> Provider | None:
    """The provider of a model string; None where the table does not know it."""
    return PROVIDERS.get(model.partition("/")[0])


def holds_to_schema(model: str) -> bool:
    """Whether the model's provider is known to hold it to a JSON schema."""
    provider = provider_of(model)
    return provider is not None and provider.holds_to_schema
