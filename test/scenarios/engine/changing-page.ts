import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'

// A page with twenty places, each of which can change a little. Its title says where a place is, so that regions can be checked.

/** A small change of a page. */
export interface Change {
  name: string
  /** The place before and after the change, in HTML. */
  before: string
  after: string
  /** CSS of the body before and after, if the whole page changes. */
  body?: readonly [string, string]
}

const box = (color: string, style = ''): string => `<i style="display:block;width:40px;height:18px;background:${color};${style}"></i>`
const star = (color: string): string =>
  `<svg width="20" height="20" viewBox="0 0 20 20"><path fill="${color}" d="M10 1l2.7 6 6.3.6-4.8 4.2 1.4 6.4L10 15l-5.6 3.2 1.4-6.4L1 7.6 7.3 7z"/></svg>`
const picture = (hue: number): string =>
  `<i style="display:block;width:56px;height:36px;background:conic-gradient(hsl(${hue} 60% 50%),hsl(${hue + 90} 60% 70%),hsl(${hue} 60% 50%))"></i>`
const table = (cell: string): string =>
  `<table style="font:11px sans-serif;border-collapse:collapse"><tr><td>Mon<td>4<td>17<tr><td>Tue<td>${cell}<td>21</table>`
const button = (left: number): string =>
  `<b style="position:relative;left:${left}px;display:inline-block;padding:4px 8px;border-radius:4px;background:#0a58ca;color:#fff">Buy</b>`

/** Twelve kinds that the project promises, and eight more. */
export const CHANGES: readonly Change[] = [
  { name: 'digit', before: 'Price 19.50', after: 'Price 99.50' },
  {
    name: 'small gray digit',
    before: '<small style="color:#888">page 3 of 8</small>',
    after: '<small style="color:#888">page 8 of 8</small>',
  },
  { name: 'word', before: 'In stock today', after: 'Out stock today' },
  { name: 'added words', before: 'Size M', after: 'Size M <b>SOLD OUT</b>' },
  { name: 'letter', before: 'the old oak', after: 'the odd oak' },
  { name: 'full stop', before: 'Read the terms', after: 'Read the terms.' },
  {
    name: 'badge',
    before: 'Inbox',
    after: 'Inbox <i style="display:inline-block;width:8px;height:8px;border-radius:4px;background:#d00"></i>',
  },
  { name: 'icon color', before: star('#b8b8b8'), after: star('#e0a000') },
  { name: 'icon color, a little', before: star('#1a7f37'), after: star('#2da44e') },
  { name: 'moved button', before: button(0), after: button(6) },
  { name: 'button moved by a pixel', before: button(0), after: button(1) },
  { name: 'missing image', before: picture(20), after: '' },
  { name: 'other image', before: picture(20), after: picture(60) },
  { name: 'table cell', before: table('1,204'), after: table('1,264') },
  { name: 'bold', before: 'Delivery is free', after: '<b>Delivery is free</b>' },
  { name: 'underline', before: 'Read more', after: '<u>Read more</u>' },
  { name: 'check mark', before: '<input type="checkbox">', after: '<input type="checkbox" checked>' },
  { name: 'progress', before: box('linear-gradient(90deg,#080 50%,#ddd 0)'), after: box('linear-gradient(90deg,#080 60%,#ddd 0)') },
  { name: 'border color', before: box('#fff', 'border:1px solid #ccc'), after: box('#fff', 'border:1px solid #d00') },
  { name: 'background', before: 'All', after: 'All', body: ['background:#fff', 'background:#fff6e0'] },
]

/** A size of a picture. */
export interface Form {
  name: string
  /** Its part of the soak run. */
  chapter: string
  options: CaptureOptions
  /** Height of the page in CSS pixels. */
  height: number
  /** Device pixels of a CSS pixel. */
  scale: number
}

export const FORMS: readonly Form[] = [
  { name: '1000 × 600', chapter: 'small', options: { viewportWidth: 1_000, viewportHeight: 600 }, height: 600, scale: 1 },
  { name: '1920 × 1080', chapter: 'desktop', options: { viewportWidth: 1_920, viewportHeight: 1_080 }, height: 1_080, scale: 1 },
  {
    name: 'phone at scale 3',
    chapter: 'phone',
    options: { viewportWidth: 390, viewportHeight: 844, deviceScaleFactor: 3, viewportMobile: true, viewportHasTouch: true },
    height: 844,
    scale: 3,
  },
  {
    name: 'full page of 7,000 px',
    chapter: 'tall',
    options: { viewportWidth: 1_280, viewportHeight: 800, fullPage: true },
    height: 7_000,
    scale: 1,
  },
  {
    name: 'full page of 25,000 px',
    chapter: 'tallest',
    options: { viewportWidth: 1_280, viewportHeight: 800, fullPage: true },
    height: 25_000,
    scale: 1,
  },
]

const WORDS = 'The quick brown fox jumps over the lazy dog and sleeps under an old oak tree until the sun comes up'.split(' ')
const paragraph = (seed: number): string => Array.from({ length: 60 }, (_, index) => WORDS[(index * 7 + seed) % WORDS.length]).join(' ')
const section = (seed: number): string =>
  `<section style="height:300px;overflow:hidden;padding:0 20px;font:16px/1.5 serif"><h2>Part ${seed}</h2><p>${paragraph(seed)}</p><div style="height:70px;background:linear-gradient(${seed * 30}deg,#036,#fc9)"></div></section>`

/** Height of the places, of the heading, and of a part of the text. */
const [PLACES, HEADING, SECTION] = [680, 60, 300]

/**
 * The page, in HTML. Its title has the box of a place: `[x, y, width, height]` in CSS pixels.
 * @param changes numbers of the changes that were made
 * @param watched number of the place in the title
 * @param style CSS of the body, without a meaning for the changes
 */
export function changingPage({ height }: Pick<Form, 'height'>, changes: readonly number[], watched = 0, style = ''): string {
  const isMade = (index: number): boolean => changes.includes(index)
  const body = CHANGES.map((change, index) => change.body?.[isMade(index) ? 1 : 0] ?? '').join(';')
  const places = CHANGES.map(
    ({ before, after }, index) =>
      `<div style="width:165px;height:54px;overflow:hidden;padding:3px"><span id="place-${index}" style="display:inline-block;width:159px;height:48px">${isMade(index) ? after : before}</span></div>`,
  )
  const sections = Math.max(0, Math.floor((height - HEADING - PLACES) / SECTION))
  const above = Math.floor(sections * 0.6)
  const parts = Array.from({ length: sections }, (_, index) => section(index))
  return `<!doctype html><meta name="viewport" content="width=device-width"><title>Page</title>
<body style="margin:0;height:${height}px;overflow-x:hidden;${height <= 1_080 ? 'overflow:hidden;' : ''}${body};${style}">
<h1 style="margin:0;height:${HEADING}px;font:28px/60px serif">The shop of the fox</h1>
${parts.slice(0, above).join('')}<main style="display:flex;flex-wrap:wrap;font:14px/1.4 sans-serif">${places.join('')}</main>${parts.slice(above).join('')}
<script>{const { x, y, width, height } = document.getElementById('place-${watched}').getBoundingClientRect()
document.title = JSON.stringify([x, y + scrollY, width, height])}</script>`
}
