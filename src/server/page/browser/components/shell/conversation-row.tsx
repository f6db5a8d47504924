import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { WireConversation } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { hashOf } from "../../state/route.js";
import { Confirm } from "../confirm.js";
import { IconButton } from "../icon-button.js";
import { useFocus } from "../use-focus.js";

export interface ConversationRowProps {
  readonly conversation: WireConversation;
  readonly isOpen: boolean;
}

/** A conversation in the list, with the ways to rename and to delete it. */
export function ConversationRow({ conversation, isOpen }: ConversationRowProps) {
  const { act, chat, conversations, pins, preferences, router } = usePage();
  const words = preferences.words.value;
  const state = useSignal<"shown" | "renaming" | "deleting">("shown");
  const { id, title, waiting } = conversation;
  const link = useRef<HTMLAnchorElement>(null);
  const done = () => {
    const isRenamed = state.value === "renaming";
    state.value = "shown";
    if (isRenamed) requestAnimationFrame(() => link.current?.focus());
  };
  const rename = (name: string) => {
    done();
    if (name !== "" && name !== title) act(conversations.rename(id, name));
  };
  const remove = async () => {
    await conversations.remove(id);
    if (chat.id.value === id) router.go({ view: "chat" });
  };

  if (state.value === "renaming") {
    return (
      <li>
        <RenameForm title={title} onSave={rename} onCancel={done} />
      </li>
    );
  }
  return (
    <li class="conversation">
      <a
        ref={link}
        class="entry"
        href={hashOf({ view: "chat", conversation: id })}
        title={title}
        {...(isOpen && { "aria-current": "page" as const })}
      >
        <span class="title">{title}</span>
        {waiting && <span class="badge">{words.waitsForYou}</span>}
      </a>
      <span class="row-actions">
        <IconButton
          icon="pin"
          label={words.pin(title)}
          isPressed={pins.pinned.value.has(id)}
          onClick={() => pins.toggle(id)}
        />
        <IconButton icon="pencil" label={words.rename(title)} onClick={() => (state.value = "renaming")} />
        <IconButton icon="bin" label={words.deleteConversation(title)} onClick={() => (state.value = "deleting")} />
      </span>
      {state.value === "deleting" && (
        <Confirm
          title={words.deleteConversationQuestion}
          explanation={words.deleteConversationExplained(title)}
          onConfirm={() => act(remove())}
          onClose={done}
        />
      )}
    </li>
  );
}

interface RenameFormProps {
  readonly title: string;
  readonly onSave: (title: string) => void;
  readonly onCancel: () => void;
}

function RenameForm({ title, onSave, onCancel }: RenameFormProps) {
  const words = usePage().preferences.words.value;
  const field = useFocus<HTMLInputElement>();
  return (
    <form
      class="renaming"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(field.current!.value.trim());
      }}
      onKeyDown={({ key }) => {
        if (key === "Escape") onCancel();
      }}
    >
      <input ref={field} aria-label={words.newName} defaultValue={title} />
      <button class="primary small">{words.save}</button>
    </form>
  );
}
