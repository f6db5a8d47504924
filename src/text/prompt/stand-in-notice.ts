/** The first line of a reply that quotes passages where no chat model is connected, with the way to connect one. */
export const standInNotices = {
  english:
    "No chat model is connected: these are the nearest passages, word for word. `--chat-model` connects one (`citewell doctor` says how).",
  chinese: "没有连接聊天模型：以下是最相近的原文段落。用 `--chat-model` 可以连接一个（`citewell doctor` 说明方法）。",
} as const;

export function standInNotice(chinese: boolean): string {
  return chinese ? standInNotices.chinese : standInNotices.english;
}
