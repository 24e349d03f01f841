// Waits for the results of workers.

import {call} from "./api.js";

const POLL_MS = 2000;

// Requests the result that `body` describes at `path` until it is made; resolves to the answer then.
export async function whenMade(path, body) {
  let answer = await call("POST", path, body);
  while (answer.state === "asked") {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    answer = await call("POST", path, body);
  }
  return answer;
}
