import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { escapeHtml } from '../sites/src/handler.ts'

/** Pictures of one page side by side, under a heading. */
export interface Section {
  title: string
  /** Red heading. */
  isWrong?: boolean
  /** Files in the directory of the report, by their captions. */
  pictures: Readonly<Record<string, string | undefined>>
}

const STYLE = `body{font:14px/1.4 Arial,sans-serif;margin:24px;background:#f4f4f0} section{display:grid;grid-template-columns:1fr 1fr;gap:12px;margin:24px 0}
h2{grid-column:1/-1;margin:0;font-size:16px} figure{margin:0;background:#fff;border:1px solid #ccc} img{width:100%;display:block} .wrong h2{color:#a00} figcaption{padding:4px 8px}`

const toFigure = ([caption, file]: [string, string | undefined]): string =>
  file === undefined
    ? ''
    : `<figure><figcaption>${escapeHtml(caption)}</figcaption><a href="${file}"><img loading="lazy" alt="" src="${file}"></a></figure>`

/** Writes `index.html` to a directory of pictures. Resolves to its path. */
export async function writeReport(directory: string, title: string, sections: readonly Section[]): Promise<string> {
  const parts = sections.map(
    ({ title, isWrong, pictures }) =>
      `<section${isWrong ? ' class="wrong"' : ''}><h2>${escapeHtml(title)}</h2>${Object.entries(pictures).map(toFigure).join('')}</section>`,
  )
  const file = path.join(directory, 'index.html')
  const head = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style>`
  await writeFile(file, `${head}<h1>${escapeHtml(title)}</h1>${parts.join('\n')}</html>\n`)
  return file
}
