import { extname } from "node:path";

/** Ways to make a file readable, by the endings of files that no loader reads. */
const ways: readonly (readonly [endings: string, way: string])[] = [
  [".png .jpg .jpeg .webp .gif .bmp .tif .tiff", "words in pictures are read by a recognizer (--ocr)"],
  [".heic .avif .psd .svg .ai", "export it as PDF or PNG"],
  [".wpd .wps .sxw .abw .lwp .602 .hwp .uot .ott .dot .dotx", "save it as .docx or .odt, such as with LibreOffice"],
  [".sxc .wk1 .wks .123 .dbf .ots .xlt .xltx .et", "save it as .xlsx or .csv, such as with LibreOffice"],
  [".sxi .otp .pot .potx .dps", "save it as .pptx or .odp, such as with LibreOffice"],
  [".vsd .vsdx .pub .odg .dwg .dxf .one .xps .oxps .indd", "export it as PDF"],
  [".ps .eps .djvu .djv .dvi", "convert it to PDF (ps2pdf, ddjvu, dvipdf)"],
  [".mobi .azw .azw3 .fb2 .lit .prc .chm", "convert it to EPUB, such as with Calibre (ebook-convert)"],
  [".mdb .accdb .sav .dta .rds .feather .orc .avro", "export its tables as CSV or Parquet"],
  [".pst .ost .olm .dbx", "export its mails as .mbox or .eml"],
  [".rar .7z .bz2 .xz .zst .lz4 .iso .dmg .cab", "unpack it, and index the folder"],
  [".mp3 .wav .m4a .ogg .flac .mp4 .mov .mkv .webm .avi", "transcribe it, and index the subtitles (.srt, .vtt)"],
];
const byEnding = new Map(ways.flatMap(([endings, way]) => endings.split(" ").map((ending) => [ending, way] as const)));

/** How to make a file that can be read of one that cannot, by its ending. */
export function conversionOf(path: string): string | undefined {
  return byEnding.get(extname(path).toLowerCase());
}

/** Reason why a file of unknown kind is not read, with a way to convert it if there is one. */
export function noLoaderReason(path: string): string {
  const ending = extname(path).toLowerCase();
  const way = conversionOf(path);
  return `no loader for ${ending || "such"} files${way === undefined ? "" : `: ${way}`}`;
}
