// Requests to the server that sent this page, with the token of its run.

const TOKEN = "rome-annotate/token";
let token = "";

export class ApiError extends Error {
  constructor(status, body) {
    super(body.error?.message || `the server answered ${status}`);
    this.status = status; // 0: no answer
    this.body = body;
  }
}

// Take the token out of the address, or the one that another tab of this browser has.
export function takeToken() {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (given) {
    token = given[1];
    try {
      localStorage.setItem(TOKEN, token);
      history.replaceState(null, "", "/");
    } catch {
      // Without storage the address keeps the token, so that a reload works.
    }
  }
  return Boolean(given) || storedToken();
}

function storedToken() {
  try {
    const stored = localStorage.getItem(TOKEN);
    const changed = Boolean(stored) && stored !== token;
    if (stored) token = stored;
    return changed;
  } catch {
    return false;
  }
}

// The answer's object; a body makes it a POST. Throws ApiError.
export async function call(path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  const options = { headers, cache: "no-store", signal: AbortSignal.timeout(20000) };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let status, answer;
  try {
    const response = await fetch(path, options);
    status = response.status;
    answer = await response.json();
  } catch {
    throw new ApiError(0, { error: { message: "the server does not answer" } });
  }
  if (status === 403 && storedToken()) return call(path, body); // the server was started anew and opened in another tab
  if (status !== 200) throw new ApiError(status, answer);
  return answer;
}
