import { toSnakeCase } from '../../crds/src/text/snake-case.ts'
import { escapeHtml } from '../sites/src/handler.ts'
import type { Entry, Unseen, Values } from './entry.ts'

/** Result of one capture. */
export interface Shown {
  /** Its file in the directory of the page. Absent if the capture failed. */
  file?: string
  /** Warnings or the error of the record. */
  facts: readonly string[]
}

/** Both captures of an option. */
export interface Pair {
  entry: Entry
  before: Shown
  after: Shown
}

const STYLE = `body{font:15px/1.5 Arial,sans-serif;margin:32px;background:#f4f4f0;color:#222} h2{margin-top:48px;border-bottom:2px solid #999}
section{margin:32px 0} .pair{display:grid;grid-template-columns:1fr 1fr;gap:24px;align-items:start} figure{margin:0;background:#fff;padding:8px;border:1px solid #ccc}
img,video,embed{max-width:100%;max-height:640px;display:block;margin:auto;background:repeating-conic-gradient(#eee 0 25%,#fff 0 50%) 0/20px 20px} embed{width:100%;height:640px}
figcaption,code{font:12px/1.5 monospace;overflow-wrap:anywhere} nav a{margin-right:12px}`

/** Writes the page. */
export function buildGallery(pairs: readonly Pair[], unseen: readonly Unseen[]): string {
  const groups = [...Map.groupBy(pairs, ({ entry }) => entry.group)]
  const links = groups.map(([title]) => `<a href="#${idOf(title)}">${escapeHtml(title)}</a>`)
  const sections = groups.map(([title, shown]) => `<h2 id="${idOf(title)}">${escapeHtml(title)}</h2>${shown.map(writePair).join('\n')}`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Options of a capture</title><style>${STYLE}</style>
<h1>${pairs.length} options: without, and with</h1><nav>${links.join('')}</nav>
${sections.join('\n')}
<h2>Options that no picture shows</h2><ul>${unseen.map(writeUnseen).join('')}</ul></html>\n`
}

const idOf = (title: string): string => title.toLowerCase().replaceAll(/\W+/g, '-')

const writePair = ({ entry, before, after }: Pair): string =>
  `<section id="${toSnakeCase(entry.name)}"><h3><code>${toSnakeCase(entry.name)}</code></h3><p>${escapeHtml(entry.description)}</p>
<div class="pair">${writeShown(before, entry.before)}${writeShown(after, entry.after)}</div></section>`

function writeShown({ file, facts }: Shown, options: Values): string {
  const picture = file === undefined ? '' : writeFile(file)
  const asked = Object.entries(options).map(([name, value]) => `${toSnakeCase(name)}: ${JSON.stringify(value)}`)
  return `<figure>${picture}<figcaption>${[...facts.map((fact) => `<b>${escapeHtml(fact)}</b>`), escapeHtml(asked.join(', '))].join('<br>')}</figcaption></figure>`
}

function writeFile(file: string): string {
  if (file.endsWith('.pdf')) return `<embed src="${file}">`
  if (/\.(mp4|webm)$/.test(file)) return `<video src="${file}" controls loop muted preload="metadata"></video>`
  return `<a href="${file}"><img loading="lazy" src="${file}"></a>`
}

const writeUnseen = ({ name, description, why }: Unseen): string =>
  `<li><code>${toSnakeCase(name)}</code> ${escapeHtml(description)} <i>${escapeHtml(why)}</i></li>`
