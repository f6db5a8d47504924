import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type DynamicToolUIPart,
  type UIMessage,
} from "ai";
import { type SubmitEvent, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

/** A chat as the AI SDK's documentation has it. The address of the server, and its token, are in the page's query. */
function Chat({ url }: { readonly url: string }) {
  const [passages, setPassages] = useState(0);
  const { messages, status, error, sendMessage, stop, regenerate, addToolApprovalResponse } = useChat({
    transport: new DefaultChatTransport({ api: `${url}/api/chat`, credentials: "include" }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onData: ({ type, data }) => {
      if (type === "data-passages") setPassages((data as unknown[]).length);
    },
  });
  // Each state of the last text that was drawn.
  const steps = useRef(new Set<string>());
  const drawn = messages.at(-1)?.parts.findLast((part) => part.type === "text")?.text;
  if (drawn !== undefined) steps.current.add(drawn);
  const ask = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const messageId = fields.get("edited") as string;
    const text = fields.get("question") as string;
    void sendMessage(messageId === "" ? { text } : { text, messageId });
  };
  const decide = (approved: boolean) => (id: string) => void addToolApprovalResponse({ id, approved });
  return (
    <main data-status={status} data-passages={passages} data-steps={JSON.stringify([...steps.current])}>
      {messages.map((message) => (
        <Message
          key={message.id}
          message={message}
          allow={decide(true)}
          refuse={decide(false)}
          again={(messageId) => void regenerate({ messageId })}
        />
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" />
        <input name="edited" aria-label="In place of" />
        <button>Ask</button>
      </form>
      <button onClick={() => void stop()}>Stop</button>
    </main>
  );
}

interface MessageProps {
  readonly message: UIMessage;
  readonly allow: (approvalId: string) => void;
  readonly refuse: (approvalId: string) => void;
  readonly again: (messageId: string) => void;
}

function Message({ message: { id, role, parts }, allow, refuse, again }: MessageProps) {
  return (
    <article id={id} data-role={role}>
      {parts.map((part, at) => {
        if (part.type === "text") return <p key={at}>{part.text}</p>;
        if (part.type === "source-document") return <cite key={at}>{part.title}</cite>;
        if (part.type === "source-url") {
          return (
            <a key={at} href={part.url}>
              {part.title}
            </a>
          );
        }
        if (part.type === "data-citation") return <q key={at}>{(part.data as { readonly quote: string }).quote}</q>;
        if (part.type === "dynamic-tool") return <Call key={at} part={part} allow={allow} refuse={refuse} />;
        return <i key={at} title={part.type} />;
      })}
      <button onClick={() => again(id)}>Again</button>
    </article>
  );
}

function Call({ part, allow, refuse }: { readonly part: DynamicToolUIPart } & Pick<MessageProps, "allow" | "refuse">) {
  return (
    <div role="group" aria-label={part.toolName} data-state={part.state}>
      {part.state === "approval-requested" && (
        <>
          <button onClick={() => allow(part.approval.id)}>Allow</button>
          <button onClick={() => refuse(part.approval.id)}>Refuse</button>
        </>
      )}
      {part.state === "output-available" && <output>{JSON.stringify(part.output)}</output>}
    </div>
  );
}

const query = new URLSearchParams(location.search);
const url = query.get("server")!;
const token = query.get("token");
if (token !== null) {
  await fetch(`${url}/api/session`, { method: "POST", credentials: "include", body: JSON.stringify({ token }) });
}
createRoot(document.body.appendChild(document.createElement("div"))).render(<Chat url={url} />);
