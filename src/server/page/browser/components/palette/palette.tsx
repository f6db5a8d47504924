import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { WireConsidered, WireDocument } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { titleOf } from "../../text/answer-as-text.js";
import { plainWords } from "../../text/plain-words.js";
import { Dialog } from "../dialog.js";
import { Icon, type IconName } from "../icon.js";

interface Entry {
  readonly key: string;
  readonly kind: "action" | "conversation" | "document" | "passage";
  readonly icon: IconName;
  readonly label: string;
  readonly detail?: string | undefined;
  readonly run: () => void;
}

const combobox = { type: "search", role: "combobox" } as object;
const perKind = 6;
const searchDelayMs = 150;
const maxExtract = 110;

/** Finds conversations, documents and passages by a few letters, and opens what is chosen. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { act, chat, client, conversations, preferences, router, source } = usePage();
  const words = preferences.words.value;
  const query = useSignal("");
  const chosen = useSignal(0);
  const documents = useSignal<readonly WireDocument[]>([]);
  const passages = useSignal<readonly WireConsidered[]>([]);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => field.current?.focus(), []);

  useSignalEffect(() => {
    const wanted = query.value.trim();
    chosen.value = 0;
    if (wanted === "") {
      documents.value = [];
      passages.value = [];
      return undefined;
    }
    let isOvertaken = false;
    const timer = setTimeout(() => {
      act(
        Promise.all([client.documents(wanted, perKind, 0), client.search(wanted)]).then(([titles, contents]) => {
          if (isOvertaken) return undefined;
          documents.value = titles.documents;
          passages.value = contents.considered.slice(0, perKind);
          return undefined;
        }),
      );
    }, searchDelayMs);
    return () => {
      isOvertaken = true;
      clearTimeout(timer);
    };
  });

  const entries = useComputed((): readonly Entry[] => {
    const wanted = query.value.trim();
    const lower = wanted.toLowerCase();
    const talks = conversations.list.value.filter(({ title }) => title.toLowerCase().includes(lower));
    const actions: Entry[] =
      wanted === ""
        ? [
            {
              key: "new",
              kind: "action",
              icon: "plus",
              label: words.newConversation,
              run: () => router.go({ view: "chat" }),
            },
            {
              key: "documents",
              kind: "action",
              icon: "file",
              label: words.documents,
              run: () => router.go({ view: "documents" }),
            },
          ]
        : [
            {
              key: "ask",
              kind: "action",
              icon: "send",
              label: words.askThis(wanted),
              run: () => {
                router.push({ view: "chat" });
                act(chat.ask(wanted));
              },
            },
          ];
    return [
      ...actions,
      ...talks.slice(0, perKind).map(({ id, title }): Entry => ({
        key: `conversation ${id}`,
        kind: "conversation",
        icon: "talk",
        label: title,
        run: () => router.go({ view: "chat", conversation: id }),
      })),
      ...documents.value.map((document): Entry => ({
        key: `document ${document.uri}`,
        kind: "document",
        icon: "file",
        label: titleOf(document),
        run: () => act(source.open({ uri: document.uri, title: document.title, start: 0, end: 0 })),
      })),
      ...passages.value.map((passage): Entry => {
        const { chunkId, end, start, text, title, uri } = passage;
        return {
          key: `passage ${chunkId}`,
          kind: "passage",
          icon: "search",
          label: (plainWords(text) || text).slice(0, maxExtract),
          detail: [titleOf(passage), words.place(passage)].filter(Boolean).join(", "),
          run: () => act(source.open({ uri, title, start, end })),
        };
      }),
    ];
  });

  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    // The dialog gives the focus back when it is closed, and what opens takes it afterwards.
    requestAnimationFrame(entry.run);
  };
  const move = (by: 1 | -1) => {
    const count = entries.value.length;
    chosen.value = (chosen.value + by + count) % count;
    requestAnimationFrame(() =>
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }),
    );
  };
  return (
    <Dialog label={words.paletteTitle} kind="palette" onClose={onClose}>
      <input
        ref={field}
        {...combobox}
        aria-label={words.paletteTitle}
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={`palette-${chosen.value}`}
        placeholder={words.palettePlaceholder}
        value={query}
        onInput={({ currentTarget }) => (query.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            move(event.key === "ArrowDown" ? 1 : -1);
          }
          if (event.key === "Enter") {
            event.preventDefault();
            run(entries.value[chosen.value]);
          }
        }}
      />
      <ul id="palette-entries" ref={list} role="listbox" aria-label={words.paletteTitle}>
        {entries.value.map((entry, index) => (
          <li
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onClick={() => run(entry)}
            onPointerMove={() => (chosen.value = index)}
          >
            <Icon name={entry.icon} />
            <span class="label">{entry.label}</span>
            {entry.detail !== undefined && <span class="detail">{entry.detail}</span>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
