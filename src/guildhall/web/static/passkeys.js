// Making a passkey on one's own page, and coming in by one. Without this file the link does all of it.
"use strict";
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const described = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

  const options = async (address, headers) => {
    const answer = await fetch(address, { method: "POST", headers });
    if (!answer.ok) throw new Error("the server gave no question");
    return answer.json();
  };

  const made = async (asked) => navigator.credentials.create({ publicKey: {
    ...asked,
    challenge: bytes(asked.challenge),
    user: { ...asked.user, id: bytes(asked.user.id) },
    excludeCredentials: described(asked.excludeCredentials),
  } });

  const shown = async (asked) => navigator.credentials.get({ publicKey: {
    ...asked, challenge: bytes(asked.challenge), allowCredentials: described(asked.allowCredentials),
  } });

  // What the server reads: every part of the answer that is bytes, as text.
  const written = (credential) => {
    const names = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
    const parts = names.filter((name) => credential.response[name]);
    const response = Object.fromEntries(parts.map((name) => [name, text(credential.response[name])]));
    return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (!window.PublicKeyCredential) continue;
    form.hidden = false;
    const said = form.querySelector("[role=status]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      said.textContent = "Follow your device …";
      try {
        const headers = form.elements["form_token"] ? { "x-form-token": form.elements["form_token"].value } : {};
        const asked = await options(form.dataset.options, headers);
        form.elements["credential"].value = written(await (form.dataset.passkey === "add" ? made : shown)(asked));
        form.submit();
      } catch {
        said.textContent = "That did not work. Try again, or come in by a link.";
      }
    });
  }
})();
