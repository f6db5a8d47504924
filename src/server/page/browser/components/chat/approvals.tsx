import { useSignal } from "@preact/signals";
import type { WireCall } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

/** Calls that run only when the reader allows them. The answer continues once each is decided. */
export function Approvals({ calls }: { readonly calls: readonly WireCall[] }) {
  const { act, chat, preferences } = usePage();
  const words = preferences.words.value;
  const decisions = useSignal<Readonly<Record<string, boolean>>>({});
  const open = calls.filter(({ approvalId, decision }) => !decision && !(approvalId in decisions.value));
  const decide = (approvalId: string, isAllowed: boolean) => {
    decisions.value = { ...decisions.value, [approvalId]: isAllowed };
    if (open.length === 1) act(chat.decide(decisions.value));
  };
  return (
    <>
      {open.map(({ approvalId, name, input, untrusted }) => (
        <section key={approvalId} class="approval" aria-labelledby={`approval-${approvalId}`}>
          <h3 id={`approval-${approvalId}`}>{words.approvalTitle}</h3>
          <p>{words.approvalExplained(name)}</p>
          <pre tabindex={0}>{JSON.stringify(input, undefined, 2)}</pre>
          {untrusted && (
            <p class="caution">
              <Icon name="warning" />
              <span>{words.approvalUntrusted}</span>
            </p>
          )}
          <div class="buttons">
            <button type="button" class="plain" onClick={() => decide(approvalId, false)}>
              {words.refuse}
            </button>
            <button type="button" class="primary small" onClick={() => decide(approvalId, true)}>
              {words.allow}
            </button>
          </div>
        </section>
      ))}
    </>
  );
}
