import { seededRandom } from "../../support/seeded-random.js";

/** A page as sites build them, what people come to it for, and what surrounds that. */
export interface PageLayout {
  readonly name: string;
  readonly html: string;
  readonly content: readonly string[];
  readonly noise: readonly string[];
}

const vocabulary =
  "harbour council engine river winter farmers letters market bridge record quiet village measure signal teacher copper northern voters supply garden weather printed railway museum budget glass pattern harvest southern captain theory island meeting evening surface column witness treaty factory music valley charter".split(
    " ",
  );

/** Builds one page: each text is made once, and noted as content or as noise. */
class PageWriter {
  readonly content: string[] = [];
  readonly noise: string[] = [];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  words(count: number): string {
    return Array.from({ length: count }, () => vocabulary[Math.floor(this.#random() * vocabulary.length)]).join(" ");
  }

  #sentence(): string {
    const words = this.words(6 + Math.floor(this.#random() * 8));
    return `${words[0]!.toUpperCase()}${words.slice(1)}, ${this.words(3 + Math.floor(this.#random() * 6))}.`;
  }

  paragraph(sentences = 3): string {
    return Array.from({ length: sentences }, () => this.#sentence()).join(" ");
  }

  /** Notes a text as content, and returns it. */
  said(text: string): string {
    this.content.push(text);
    return text;
  }

  /** Notes a text as noise, and returns it. */
  around(text: string): string {
    this.noise.push(text);
    return text;
  }

  paragraphs(count: number, sentences = 3): string {
    return Array.from({ length: count }, () => `<p>${this.said(this.paragraph(sentences))}</p>`).join("\n");
  }

  /** A list of links to other pages. */
  links(count: number, words = 6): string {
    const items = Array.from(
      { length: count },
      (_, index) => `<li><a href="/${index}.html">${this.around(this.words(words))}</a></li>`,
    );
    return `<ul>${items.join("")}</ul>`;
  }

  menu(): string {
    return `<div class="top-bar"><div class="logo"><a href="/">${this.around(this.words(2))}</a></div>${this.links(8, 1)}</div>`;
  }

  footer(): string {
    return `<div class="site-info"><div class="cols">${this.links(12, 2)}</div><p>${this.around(`Copyright 2026 ${this.words(8)}. All rights reserved.`)}</p></div>`;
  }

  consent(): string {
    return `<div id="cookie-banner" class="overlay"><p>${this.around(`We use cookies, ${this.words(20)}.`)}</p><button>${this.around("Accept all")}</button></div>`;
  }

  comments(count: number): string {
    const each = () =>
      `<li class="comment"><div class="comment-author">${this.around(this.words(2))}</div><div class="comment-body"><p>${this.around(this.paragraph(2))}</p></div></li>`;
    return `<div id="comments" class="comments-area"><h2>${this.around("Comments")}</h2><ol class="comment-list">${Array.from({ length: count }, each).join("")}</ol></div>`;
  }

  teasers(count: number): string {
    const each = () =>
      `<div class="card"><a href="/x"><img src="x.jpg" alt=""><h3>${this.around(this.words(7))}</h3></a><p class="excerpt">${this.around(this.paragraph(1))}</p></div>`;
    return `<div class="related-posts"><h3>${this.around("Related stories")}</h3>${Array.from({ length: count }, each).join("")}</div>`;
  }

  page(body: string, head = ""): string {
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${this.words(5)}</title>${head}</head><body>${body}</body></html>`;
  }
}

type Layout = (page: PageWriter) => string;

const layouts: Readonly<Record<string, Layout>> = {
  "a news article between menus, related stories, comments and a footer": (page) =>
    page.page(
      `${page.consent()}${page.menu()}
<div class="wrapper"><div class="story">
<h1>${page.said(page.words(8))}</h1>
<div class="share-bar">${page.around("Share this")} <a href="#">${page.around("Facebook")}</a> <a href="#">${page.around("Mail")}</a></div>
<div class="story-body">${page.paragraphs(4)}
<h2>${page.said(page.words(4))}</h2>${page.paragraphs(4)}
<div class="newsletter-signup"><p>${page.around(`Get our newsletter, ${page.words(9)}.`)}</p><form><input name="email"><input type="submit"></form></div>
${page.paragraphs(3)}</div></div>
<div class="rail">${page.links(10, 7)}</div>${page.teasers(4)}${page.comments(6)}</div>${page.footer()}`,
      '<meta property="og:type" content="article">',
    ),
  "a post in a blog with a sidebar": (page) =>
    page.page(
      `<div id="page" class="site"><div id="masthead">${page.menu()}</div>
<div id="content" class="site-content"><div id="primary"><div class="post-12 post hentry">
<div class="entry-header"><h1 class="entry-title">${page.said(page.words(6))}</h1></div>
<div class="entry-content">${page.paragraphs(3, 4)}
<blockquote><p>${page.said(page.paragraph(1))}</p></blockquote>
<ul><li>${page.said(page.paragraph(1))}</li><li>${page.said(page.paragraph(1))}</li></ul>
<pre><code>npm install widget\nwidget --start</code></pre>${page.paragraphs(3, 3)}</div></div>
${page.comments(4)}</div>
<div id="secondary" class="widget-area"><div class="widget"><h3>${page.around("Recent posts")}</h3>${page.links(6, 5)}</div>
<div class="widget"><h3>${page.around("About me")}</h3><p>${page.around(page.paragraph(2))}</p></div></div></div></div>${page.footer()}`,
    ),
  "a page of documentation with a table of contents beside it": (page) => {
    const cell = () => `<td>${page.said(page.words(3))}</td>`;
    return page.page(
      `<nav class="navbar">${page.links(6, 1)}</nav><div class="main-wrapper"><aside class="theme-doc-sidebar">${page.links(20, 2)}</aside>
<main class="docMainContainer"><article><div class="theme-doc-markdown markdown"><h1>${page.said(page.words(3))}</h1>
${page.paragraphs(2, 2)}<h2>${page.said(page.words(2))}</h2>
<div class="codeBlockContainer"><pre><code class="language-sh">${page.said("npm init widget")}</code></pre></div>
${page.paragraphs(1, 1)}
<table><thead><tr><th>${page.said("Option")}</th><th>${page.said("Meaning")}</th></tr></thead><tbody><tr>${cell()}${cell()}</tr><tr>${cell()}${cell()}</tr></tbody></table>
<h2>${page.said(page.words(2))}</h2><dl><dt>${page.said(page.words(2))}</dt><dd>${page.said(page.paragraph(1))}</dd></dl>
<ul>${Array.from({ length: 4 }, () => `<li><a href="/api">${page.said(page.words(2))}</a>: ${page.said(page.paragraph(1))}</li>`).join("")}</ul>
</div></article><nav class="pagination-nav">${page.links(2, 2)}</nav></main></div><footer class="footer">${page.links(9, 2)}</footer>`,
    );
  },
  "a thread in a forum": (page) => {
    const post = () => `<div class="post"><div class="postprofile"><a href="/u">${page.around(page.words(1))}</a></div>
<div class="postbody"><div class="content">${page.said(page.paragraph(3))}</div></div></div>`;
    return page.page(`${page.menu()}<div class="page-body"><h2 class="topic-title">${page.said(page.words(7))}</h2>
${Array.from({ length: 6 }, post).join("\n")}</div>${page.footer()}`);
  },
  "the page of an article in a shop": (page) => {
    const row = () => `<tr><th>${page.said(page.words(2))}</th><td>${page.said(page.words(3))}</td></tr>`;
    return page.page(
      `${page.consent()}${page.menu()}<div class="product"><h1>${page.said(page.words(5))}</h1>
<span class="price">${page.said("129.00 euros")}</span><button>${page.around("Add to cart")}</button>
<div class="description"><p>${page.said(page.paragraph(3))}</p></div>
<table class="specs">${row()}${row()}${row()}${row()}${row()}</table>
<div class="reviews"><h2>${page.said("Reviews")}</h2><p>${page.said(page.paragraph(2))}</p><p>${page.said(page.paragraph(2))}</p></div></div>${page.footer()}`,
      '<meta property="og:type" content="product">',
    );
  },
  "two main parts, the first of them small": (page) =>
    page.page(
      `${page.menu()}<main class="notice"><p>${page.around(page.paragraph(1))}</p></main><main class="story">${page.paragraphs(8)}</main>${page.footer()}`,
    ),
  "a main part of sixteen characters beside the article": (page) =>
    page.page(
      `${page.menu()}<main id="app">${page.around("Loading, one sec")}</main><div class="article-text"><h1>${page.said(page.words(6))}</h1>${page.paragraphs(8)}</div>${page.footer()}`,
    ),
  "a list of articles": (page) => {
    const teaser = () =>
      `<article class="teaser"><h2><a href="/a">${page.said(page.words(6))}</a></h2><p>${page.said(page.paragraph(2))}</p></article>`;
    return page.page(
      `${page.menu()}<div class="river">${Array.from({ length: 8 }, teaser).join("\n")}</div>${page.footer()}`,
    );
  },
  "an article laid out by tables": (page) =>
    page.page(
      `<table width="100%"><tr><td colspan="2">${page.menu()}</td></tr><tr><td width="150">${page.links(14, 2)}</td>
<td class="text">${page.paragraphs(9)}</td></tr><tr><td colspan="2">${page.footer()}</td></tr></table>`,
    ),
  "paragraphs that are divided by line breaks": (page) =>
    page.page(`${page.menu()}<div class="c1"><h1>${page.said(page.words(6))}</h1>
<div class="c2">${Array.from({ length: 8 }, () => page.said(page.paragraph(3))).join("<br><br>\n")}</div>
<div class="c3">${page.links(9, 6)}</div></div>${page.footer()}`),
  "an article whose sections are each in a box": (page) =>
    page.page(`${page.menu()}<div class="l"><h1>${page.said(page.words(6))}</h1>
${Array.from({ length: 4 }, () => `<div class="block"><div class="inner"><h2>${page.said(page.words(3))}</h2>${page.paragraphs(2)}</div></div><div class="ad-slot">${page.around("Advertisement")}</div>`).join("\n")}
${page.teasers(3)}</div>${page.footer()}`),
  "an article with captions, a live ticker and a list of sources": (page) =>
    page.page(`<header class="site-header">${page.menu()}</header><div role="main"><article>
<header><h1>${page.said(page.words(8))}</h1><p class="standfirst">${page.said(page.paragraph(1))}</p></header>
<figure><img src="a.jpg" alt="${page.around(page.words(4))}"><figcaption>${page.around(page.paragraph(1))}</figcaption></figure>
${page.paragraphs(7)}
<section class="sources"><h2>${page.said("Sources")}</h2><ul><li>${page.said(page.paragraph(1))}</li><li>${page.said(page.paragraph(1))}</li></ul></section>
</article><div class="most-read"><h2>${page.around("Most read")}</h2>${page.links(10, 8)}</div></div>${page.footer()}`),
};

/** Every layout as one page, the same each time. */
export const pageLayouts: readonly PageLayout[] = Object.entries(layouts).map(([name, layout], index) => {
  const page = new PageWriter(index + 1);
  const html = layout(page);
  return { name, html, content: page.content, noise: page.noise };
});
