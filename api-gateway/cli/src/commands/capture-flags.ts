import type { ScreenshotRequest } from '../../../client/src/index.ts'
import { type CaptureOption, type Flag, toFlagName } from '../arguments/flag.ts'
import { givenBy, type Parsed } from '../arguments/parse.ts'
import { toUrl } from '../batch/urls.ts'
import { UsageError } from '../common/errors.ts'
import { optionGroups } from '../generated/options.ts'

const VALUE_NAMES: Readonly<Record<string, string>> = {
  integer: 'N',
  number: 'N',
  text: 'TEXT',
  list: 'TEXT',
  map: 'NAME=VALUE',
  cookies: 'COOKIE',
}

/** A capture option as a flag. */
export function toFlag({ name, kind, summary, values }: CaptureOption): Flag {
  if (name === 'async') return { name, kind, summary: 'Prints the id and does not wait. Default: false.', isNegatable: true }
  const value = name === 'compare_ignore' ? 'SELECTOR' : VALUE_NAMES[kind]
  return { name: toFlagName(name), kind, summary, ...(value && { value }), ...(values && { values }), isNegatable: kind === 'boolean' }
}

/** Every capture option of the API as a flag. */
export const captureFlags: readonly Flag[] = optionGroups.flatMap(({ options }) => options.map(toFlag))

/** `async` decides whether the program waits. It is not sent. */
const optionFlags = captureFlags.filter(({ name }) => name !== 'async')

/** The capture options of a command line by their names in the API. */
export const toCaptureOptions = (parsed: Parsed): ScreenshotRequest => givenBy(parsed, optionFlags)

/** True if the command line has the page itself. @throws UsageError if it also has a URL */
export function isInline({ parsed: { values } }: { parsed: Parsed }, url: string | undefined): boolean {
  const hasMarkup = values.has('html') || values.has('markdown')
  if (url !== undefined && hasMarkup) throw new UsageError('--html and --markdown replace the URL. Leave the URL out.')
  return hasMarkup
}

/** The URL, which --html and --markdown replace. @param remedy what to do if it is missing @throws UsageError */
export function pageOf(context: { parsed: Parsed }, url: string | undefined, remedy: string): { url?: string } {
  if (!isInline(context, url) && url === undefined) throw new UsageError(`a URL is missing. ${remedy}`)
  return url === undefined ? {} : { url: toUrl(url) }
}
