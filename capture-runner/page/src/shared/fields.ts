// What form fields show. Passwords are in no file, also if the page shows them.

import { isInSight } from './boxes.ts'
import { attributeOf, createHtml, isHtml, nameOf, queryAll, read } from './dom.ts'

/** Names of fields for passwords, which a page can turn into text fields to show them. */
const SECRET_NAME = /(pass(word|wd|code|phrase)|pwd)[\W\d]*$/i
const SECRET_USE = /\b(current|new)-password\b/i

/** True for a field whose value nobody may read. */
export function isSecret(field: Element): boolean {
  if (!isHtml(field) || !/^(input|textarea)$/.test(nameOf(field))) return false
  const named = [attributeOf(field, 'name'), attributeOf(field, 'id')]
  return (
    read(field as HTMLInputElement, 'type') === 'password' ||
    SECRET_USE.test(attributeOf(field, 'autocomplete') ?? '') ||
    named.some((name) => SECRET_NAME.test(name ?? '')) ||
    !/^(none|)$/.test(getComputedStyle(field).getPropertyValue('-webkit-text-security'))
  )
}

/** Inputs in which people type. */
export const TYPED = /^(text|search|url|tel|email|number|password)$/
/** Inputs that show nothing but a control. */
const WORDLESS = /^(hidden|checkbox|radio|range|color)$/
/** What buttons show that have no value of their own. */
const LABELS: Readonly<Record<string, string>> = { submit: 'Submit', reset: 'Reset' }

/** The text that a field shows in its place; undefined for an element that shows its content. */
export function textOfField(element: Element): string | undefined {
  if (!isHtml(element)) return undefined
  const name = nameOf(element)
  if (name !== 'input' && name !== 'textarea' && name !== 'select' && name !== 'img') return undefined
  if (!isInSight(element)) return ''
  if (name === 'select') return textOfSelect(element as HTMLSelectElement)
  if (name === 'img') return textOfImage(element as HTMLImageElement)
  return textOfInput(element as HTMLInputElement)
}

function textOfInput(input: HTMLInputElement): string {
  const type = read(input, 'type')
  if (WORDLESS.test(type)) return ''
  if (type === 'file') return textOfFiles(input)
  if (type === 'image') return isLoaded(input) ? '' : (attributeOf(input, 'alt') ?? attributeOf(input, 'value') ?? 'Submit')
  const value = read(input, 'value')
  if (type === 'submit' || type === 'reset' || type === 'button') return attributeOf(input, 'value') ?? LABELS[type] ?? ''
  if (value === '') return TYPED.test(type) || type === 'textarea' ? placeholderOf(input) : ''
  if (isSecret(input)) return ''
  return DATES[type]?.(value, read(input, 'valueAsNumber')) ?? value
}

/** Pages hide placeholders whose words a label repeats. */
function placeholderOf(input: HTMLInputElement): string {
  const { opacity, visibility, color } = getComputedStyle(input, '::placeholder')
  const isHidden = opacity === '0' || visibility !== 'visible' || /^(transparent|rgba\(.*, 0\))$/.test(color)
  return isHidden ? '' : read(input, 'placeholder')
}

function textOfFiles(input: HTMLInputElement): string {
  const files = [...(read(input, 'files') ?? [])].map(({ name }) => name)
  const isSeveral = read(input, 'multiple')
  const chosen = files.length > 1 ? `${files.length} files` : (files[0] ?? 'No file chosen')
  return `${isSeveral ? 'Choose Files' : 'Choose File'} ${chosen}`
}

/** A list shows all of its options and the names of their groups, a menu the chosen one. */
function textOfSelect(select: HTMLSelectElement): string {
  const isList = read(select, 'multiple') || read(select, 'size') > 1
  const parts = isList
    ? queryAll(select, 'option, optgroup').filter(isInSight)
    : [...read(select, 'options')].filter((option) => read(option, 'selected'))
  return parts.map((part) => read(part as HTMLOptionElement, 'label')).join('\n')
}

/** The browser shows the alternative text of an image that it could not load. */
const textOfImage = (image: HTMLImageElement): string =>
  read(image, 'complete') && read(image, 'naturalWidth') === 0 ? read(image, 'alt') : ''

/** True if the image of a button is there. Such a button does not say it, but an image of its URL has it at once. Without its URL, it loads nothing. */
function isLoaded(button: HTMLInputElement): boolean {
  if (read(button, 'src') === '') return false
  const image = createHtml('img', read(button, 'ownerDocument'))
  image.src = read(button, 'src')
  const isThere = image.complete && image.naturalWidth > 0
  image.removeAttribute('src')
  return isThere
}

const inEnglish = (time: number, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' }).format(time).replaceAll('\u202F', ' ')
const DAY: Intl.DateTimeFormatOptions = { year: 'numeric', month: '2-digit', day: '2-digit' }
const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' }

/** How Chromium shows dates and times. Its fields speak English, whatever the locale of the page. */
const DATES: Readonly<Record<string, (value: string, time: number) => string>> = {
  date: (_, time) => inEnglish(time, DAY),
  'datetime-local': (value) => inEnglish(Date.parse(`${value}Z`), { ...DAY, ...TIME }),
  time: (_, time) => inEnglish(time, TIME),
  month: (value) => inEnglish(Date.parse(value), { year: 'numeric', month: 'long' }),
  week: (value) => value.replace(/^(\d+)-W0*(\d+)$/, 'Week $2, $1'),
}
