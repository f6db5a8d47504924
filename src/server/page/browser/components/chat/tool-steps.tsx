import type { ToolStep } from "../../state/answer.js";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

/** The tools that ran on the way to an answer, each with what it was given and what it gave. */
export function ToolSteps({ steps }: { readonly steps: readonly ToolStep[] }) {
  const words = usePage().preferences.words.value;
  const says = { running: words.toolRuns, done: words.toolRan, failed: words.toolFailed, refused: words.toolRefused };
  return (
    <>
      {steps.map(({ id, name, input, state, output }) => (
        <details key={id} class="step">
          <summary>
            <Icon name="tool" />
            {says[state](name)}
          </summary>
          <h3>{words.toolInput}</h3>
          <pre tabindex={0}>{shown(input)}</pre>
          {output !== undefined && (
            <>
              <h3>{words.toolOutput}</h3>
              <pre tabindex={0}>{shown(output)}</pre>
            </>
          )}
        </details>
      ))}
    </>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
