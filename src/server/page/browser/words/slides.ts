/** Whether the pages of a document are slides, by its address. Pure. */
export function isSlides(uri: string): boolean {
  return /\.(?:pptx|pptm|ppt|pps|odp|fodp|key)(?=$|[?#;])/i.test(uri);
}
