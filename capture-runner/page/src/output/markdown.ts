// The article of the page as Markdown, or all that the page shows.

import { Readability } from '@mozilla/readability'
import TurndownService from 'turndown/lib/turndown.browser.es.js'
import type { PageFunctions } from '../../../src/page/functions.ts'
import { cut, toSavedText } from '../shared/text.ts'
import { copyReadable, type ReadableCopy } from './readable-copy.ts'

/** Share of the prose of a page that its article must have. With less, the library may have left out a part of it. */
const ARTICLE_SHARE = 0.6
const MAX_COLUMNS = 50

export const readMarkdown: PageFunctions['readMarkdown'] = (isArticleWanted, maxLength) => {
  const copy = copyReadable()
  const article = isArticleWanted ? findArticle(copy) : undefined
  const text = toText(toMarkdown(article?.content ?? copy.document.body))
  const title = article?.title?.trim() ?? ''
  const whole = title !== '' && !/^# /m.test(text) ? `# ${title.replace(/\s+/g, ' ')}\n\n${text}` : text
  return { markdown: cut(whole, maxLength), isArticle: article !== undefined, isCut: copy.isCut || whole.length > maxLength }
}

const toText = (markdown: string): string => toSavedText(markdown).replace(/[ \t]+$/gm, (spaces) => (spaces.length === 2 ? spaces : ''))

interface Article {
  title: string | null | undefined
  content: HTMLElement
}

/** The article, if it is most of what the page says. The library changes the document that it reads. */
function findArticle({ document: whole, proseLength }: ReadableCopy): Article | undefined {
  const found = new Readability<Node>(whole.cloneNode(true) as Document, {
    disableJSONLD: true,
    keepClasses: true,
    serializer: (node) => node,
  }).parse()
  const letters = found?.textContent?.replace(/\s+/g, '').length ?? 0
  if (!found?.content || letters < proseLength * ARTICLE_SHARE) return undefined
  return { title: found.title, content: found.content as HTMLElement }
}

/** Tables that show data, by what the rules have found out. Others place the parts of a page. */
const tables = new WeakMap<Element, boolean>()

function isData(node: Element): boolean {
  const table = node.closest('table')
  if (!table) return false
  const known = tables.get(table)
  if (known !== undefined) return known
  const rows = [...table.querySelectorAll('tr')]
  const isOne = !table.querySelector('table, pre, h1, h2, h3') && !table.parentElement?.closest('td, th')
  const found = isOne && rows.some(({ children }) => children.length > 1)
  tables.set(table, found)
  return found
}

/** Children of an element that the library joins one by one. With each, it copies the text of all before. */
const MAX_CHILDREN = 128
/** How to group the children of an element: in elements of this name. */
const GROUPS: Readonly<Record<string, string>> = { ul: 'ul', ol: 'ol', table: '', tr: '', tbody: '', thead: '', tfoot: '' }

/** Groups the children of elements that have many, so that the time grows with the length of the text, and not with its square. */
function groupChildren(root: Element): void {
  for (const element of [root, ...root.querySelectorAll('*')]) {
    const group = GROUPS[element.localName] ?? 'span'
    while (group !== '' && element.childNodes.length > MAX_CHILDREN) groupOnce(element, group)
  }
  for (const body of root.querySelectorAll('tbody')) {
    while (body.childNodes.length > MAX_CHILDREN) {
      const rows = body.ownerDocument.createElement('tbody')
      rows.append(...[...body.childNodes].slice(0, MAX_CHILDREN))
      body.before(rows)
    }
  }
}

function groupOnce(element: Element, name: string): void {
  const children = [...element.childNodes]
  let number = Number(element.getAttribute('start') ?? 1)
  for (let first = 0; first < children.length; first += MAX_CHILDREN) {
    const group = element.ownerDocument.createElement(name)
    const members = children.slice(first, first + MAX_CHILDREN)
    if (name === 'ol') group.setAttribute('start', String(number))
    number += members.filter(({ nodeName }) => nodeName === 'LI').length
    group.append(...members)
    element.append(group)
  }
}

function toMarkdown(root: HTMLElement): string {
  groupChildren(root)
  const service = new TurndownService({ headingStyle: 'atx', hr: '---', bulletListMarker: '-', codeBlockStyle: 'fenced', emDelimiter: '*' })
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A',
    replacement: (content, node) => {
      const url = (node as Element).getAttribute('href')?.replace(/[()\s]/g, encodeURIComponent)
      const label = content
        .replace(/^#{1,6} /gm, '')
        .replace(/\s+/g, ' ')
        .trim()
      return url === undefined || label === '' ? content : `[${label}](${url})`
    },
  })
  const numbers = new Map<Node | null, number>()
  service.addRule('item', {
    filter: 'li',
    replacement: (content, { parentNode, nextSibling }) => {
      const start = Number((parentNode as Element | null)?.getAttribute('start') ?? 1)
      const number = (numbers.get(parentNode) ?? (Number.isInteger(start) ? start : 1) - 1) + 1
      numbers.set(parentNode, number)
      const marker = parentNode?.nodeName === 'OL' ? `${number}. ` : '- '
      const isParagraph = content.endsWith('\n')
      const lines = content.replace(/^\n+|\n+$/g, '').replaceAll('\n', `\n${' '.repeat(marker.length)}`)
      return marker + lines + (isParagraph ? '\n' : '') + (nextSibling ? '\n' : '')
    },
  })
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content, node) => {
      if (!isData(node as Element)) return `\n\n${content}\n\n`
      const more = Math.min(MAX_COLUMNS, Number((node as Element).getAttribute('colspan')) || 1) - 1
      return ` ${content.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim()} |${' |'.repeat(Math.max(0, more))}`
    },
  })
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      if (!isData(node as Element)) return content
      const isFirst = (node as Element).closest('table')?.querySelector('tr') === node
      const columns = content.match(/(?<!\\)\|/g)?.length ?? 1
      return `\n|${content}${isFirst ? `\n|${' --- |'.repeat(columns)}` : ''}`
    },
  })
  service.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  return service.turndown(root)
}
