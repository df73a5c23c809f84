import { CaptureError } from '../../runtime/errors.ts'
import { abortable, bounded } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { assertScript } from './syntax.ts'

/** Size limit of one file. The rest is not read. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Loads the scripts and style sheets that the client named, through the guard like everything else. This happens before the page opens: afterwards
 * the page's Content-Security-Policy would apply, and the file’s site would learn which page uses it.
 */
export const loadFiles: Step = {
  name: 'loadFiles',
  isWanted: ({ options }) => (options.scriptUrls ?? options.styleUrls) !== undefined,
  run: async (work) => {
    const { scriptUrls = [], styleUrls = [], timeout, failOnScriptError } = work.plan.options
    const tooSlow = () => new CaptureError('TIMEOUT', `script_urls and style_urls did not load within ${timeout} ms`)
    using time = bounded(work.signal, timeout, tooSlow)
    const load = async (url: string) => [url, await loadText({ ...work, signal: time.signal }, url)] as const
    work.texts = new Map(await Promise.all([...new Set([...scriptUrls, ...styleUrls])].map(load)))
    if (failOnScriptError) await assertScripts(work, scriptUrls)
  },
}

/** Only used with fail_on_script_error. Otherwise the step that runs a script reports its failure. */
async function assertScripts(work: Work, urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) {
    const text = work.texts?.get(url)
    if (text !== undefined) await assertScript(work, { option: `script_urls[${index}]`, text, kind: 'console' })
  }
}

/** Undefined when the file cannot be loaded. */
async function loadText({ tab: { session, mainFrame }, signal }: Work, url: string): Promise<string | undefined> {
  const options = { disableCache: false, includeCredentials: false }
  const { resource } = await abortable(session.send('Network.loadNetworkResource', { frameId: mainFrame, url, options }), signal)
  const { success, httpStatusCode = 0, stream } = resource
  if (stream === undefined) return undefined
  try {
    return success && httpStatusCode < 400 ? await readAll({ session, signal }, stream) : undefined
  } finally {
    session.send('IO.close', { handle: stream }).catch(() => {})
  }
}

async function readAll({ session, signal }: Pick<Work['tab'], 'session'> & Pick<Work, 'signal'>, handle: string): Promise<string> {
  const parts: Buffer[] = []
  for (let bytes = 0; bytes < MAX_BYTES; ) {
    const { data, base64Encoded, eof } = await abortable(session.send('IO.read', { handle }), signal)
    const part = Buffer.from(data, base64Encoded ? 'base64' : 'utf8')
    parts.push(part)
    bytes += part.length
    if (eof) break
  }
  return decode(Buffer.concat(parts))
}

/** As a browser reads style sheets and scripts: a byte order mark decides the encoding and is no part of the text. */
export function decode(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('latin1')
  return new TextDecoder(mark === '\u00FF\u00FE' ? 'utf-16le' : mark === '\u00FE\u00FF' ? 'utf-16be' : 'utf-8').decode(bytes)
}
