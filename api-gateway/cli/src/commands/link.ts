import { type LinkParameters, signLink, TintypeError } from '../../../client/src/index.ts'
import { toOptionName } from '../arguments/flag.ts'
import { parseDuration } from '../arguments/parse.ts'
import { CliError, EXIT, UsageError } from '../common/errors.ts'
import { NOT_IN_LINKS } from '../generated/options.ts'
import { requireService } from '../settings/settings.ts'
import { captureFlags, pageOf, toCaptureOptions } from './capture-flags.ts'
import type { Command, Context } from './context.ts'

function parseExpiry(text: string, now: number): number {
  const duration = parseDuration(text)
  if (duration !== undefined) return now + duration
  if (/^\d+$/.test(text)) return Number(text)
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new UsageError(`--expires "${text}" is no time. Use a duration such as 7d or 12h, or an ISO 8601 time.`)
  return Math.floor(time / 1_000)
}

/** `7d`, `12h`, `30m`, Unix seconds or an ISO 8601 time, as Unix seconds. */
export function toExpiry(text: string, now: Date): number {
  const seconds = Math.floor(now.getTime() / 1_000)
  const expiry = parseExpiry(text, seconds)
  if (expiry <= seconds) throw new UsageError(`--expires "${text}" is in the past. Use a duration such as 7d or 12h, or a later time.`)
  return expiry
}

const linkFlags = captureFlags.filter(({ name }) => !NOT_IN_LINKS.includes(toOptionName(name)))

export const link: Command = {
  name: 'link',
  usage: '[URL]',
  summary: 'Prints a signed link to a picture, for <img> and Markdown',
  flags: [
    { name: 'expires', kind: 'text', value: 'TIME', summary: 'End of the link: 7d, 12h or an ISO 8601 time' },
    { name: 'on-error', kind: 'text', value: 'WHAT', values: ['image'], summary: 'image: shows errors as pictures' },
    { name: 'link-key', kind: 'text', value: 'KEY_ID', summary: 'API key id key_…, instead of TINTYPE_LINK_KEY' },
    { name: 'link-secret', kind: 'text', value: 'SECRET', summary: 'Secret lsk_…, instead of TINTYPE_LINK_SECRET' },
    ...linkFlags,
  ],
  notes: [
    '  tintype link example.com --expires 7d --viewport-width 1200 --format webp',
    '',
    'Without a link key or secret, the service provides those of your API key.',
    'Capture options are flags, as for `tintype shot`: `tintype --help options`.',
  ],
  // A link to a port that kubectl forwards would end with this program.
  isLocal: true,
  async run(context) {
    const { url } = context.settings
    if (url === undefined) throw new CliError('the URL of the service is not set. Set TINTYPE_URL, or add --server.', EXIT.unreachable)
    const page = pageOf(context, context.parsed.positionals[0], 'Name the page of the link.')
    const [expires, onError] = [context.text('expires'), context.text('on-error')]
    const end = expires === undefined ? undefined : toExpiry(expires, context.world.now())
    if (onError !== undefined && onError !== 'image') throw new UsageError(`--on-error must be image, but is "${onError}".`)
    const params: LinkParameters = { ...toCaptureOptions(context.parsed), ...page, on_error: onError }
    const signed = await signLink({ baseUrl: url, ...(await findLinkSigner(context)), params, expires: end })
    context.show({ url: signed }, signed)
  },
}

// The key and the secret that sign links: those of the settings, or the secret of the API key that the program uses.

export interface LinkSigner {
  key: string
  secret: string
}

/**
 * The id of the API key that the program uses. The service does not name it, but lists the last four characters of each key.
 * @throws CliError if no key or several keys end so
 */
export async function findOwnKey(context: Context): Promise<string> {
  const ending = requireService(context.settings).apiKey.slice(-4)
  const keys = await context.client().keys.list({ signal: context.world.signal }).toArray()
  const [own, other] = keys.filter(({ last_four }) => last_four === ending)
  const remedy = 'Name its id from `tintype keys list`, for a link with --link-key.'
  if (own === undefined) throw new CliError(`no API key of the account ends in …${ending}. It may have been rotated. ${remedy}`)
  if (other !== undefined) throw new CliError(`several API keys of the account end in …${ending}. ${remedy}`)
  return own.id
}

/** Links need a secret only, so a key without the right to manage keys can sign them. */
function explainMissingScope(error: unknown): never {
  if (!(error instanceof TintypeError) || error.code !== 'INSUFFICIENT_SCOPE') throw error
  const remedy = 'Use another API key, or set TINTYPE_LINK_KEY and TINTYPE_LINK_SECRET.'
  throw new CliError(`the API key may not read the link secret: ${error.message.split('. ')[0]}. ${remedy}`, EXIT.unreachable)
}

/** The key and the secret of the flags or the settings. The service provides those that are missing. */
async function findLinkSigner(context: Context): Promise<LinkSigner> {
  const { settings, world } = context
  const key = context.text('link-key') ?? settings.linkKey
  // The stored secret belongs to the stored key.
  const stored = key === settings.linkKey ? settings.linkSecret : undefined
  const secret = context.text('link-secret') ?? stored
  if (key !== undefined && secret !== undefined) return { key, secret }
  try {
    const id = key ?? (await findOwnKey(context))
    return { key: id, secret: secret ?? (await context.client().keys.linkSecret(id, { signal: world.signal })).link_secret }
  } catch (error) {
    return explainMissingScope(error)
  }
}
