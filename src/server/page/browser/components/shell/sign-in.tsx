import { useSignal } from "@preact/signals";
import { ApiError } from "../../api/http.js";
import { usePage } from "../../state/page.js";
import { useFocus } from "../use-focus.js";
import { Settings } from "./settings.js";

/** Asks for the token of a protected collection, or leads to where people sign in. */
export function SignIn() {
  const page = usePage();
  const words = page.preferences.words.value;
  const problem = useSignal<string | undefined>(undefined);
  const token = useFocus<HTMLInputElement>();
  const submit = async () => {
    try {
      await page.signIn(token.current!.value.trim());
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status === 401;
      problem.value = isRefused ? words.tokenRefused : words.actionFailed((error as Error).message);
    }
  };
  const { value: address } = page.signInAddress;
  if (address !== undefined) {
    return (
      <main class="sign-in">
        <h1>{words.signIn}</h1>
        <p>{words.signInExplained}</p>
        <p>
          <a class="primary" href={address}>
            {words.signIn}
          </a>
        </p>
        <Settings />
      </main>
    );
  }
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>{words.signIn}</h1>
        <p>{words.tokenExplained}</p>
        <label for="token">{words.token}</label>
        <input
          id="token"
          ref={token}
          type="password"
          required
          autocomplete="current-password"
          aria-describedby="token-problem"
          aria-invalid={problem.value !== undefined}
        />
        <p id="token-problem" class="problem" role="alert">
          {problem}
        </p>
        <button class="primary">{words.signIn}</button>
      </form>
      <Settings />
    </main>
  );
}
