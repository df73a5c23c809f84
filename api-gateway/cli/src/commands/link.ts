import { type LinkParameters, signLink } from '../../../client/src/index.ts'
import { toUrl } from '../batch/urls.ts'
import { CliError, EXIT, UsageError } from '../common/errors.ts'
import { captureFlags, toCaptureOptions } from './capture-flags.ts'
import type { Command } from './context.ts'

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 }

/** `7d`, `12h`, `30m`, Unix seconds or an ISO 8601 time, as Unix seconds. */
export function toExpiry(text: string, now: Date): number {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? []
  if (count !== undefined) return Math.floor(now.getTime() / 1_000) + Number(count) * (SECONDS[unit] ?? 1)
  if (/^\d+$/.test(text)) return Number(text)
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new UsageError(`--expires "${text}" is no time. Use a duration such as 7d or 12h, or an ISO 8601 time.`)
  return Math.floor(time / 1_000)
}

/** A link shows its parameters to everyone, and a query has no maps. */
const linkFlags = captureFlags.filter(({ kind }) => kind !== 'map' && kind !== 'cookies')

export const link: Command = {
  name: 'link',
  usage: 'URL',
  summary: 'Prints a signed link to a picture, for <img> and Markdown',
  minimum: 1,
  maximum: 1,
  flags: [
    { name: 'link-key', kind: 'text', value: 'KEY_ID', summary: 'API key id key_…, instead of TINTYPE_LINK_KEY' },
    { name: 'link-secret', kind: 'text', value: 'SECRET', summary: 'Secret lsk_…, instead of TINTYPE_LINK_SECRET' },
    { name: 'expires', kind: 'text', value: 'TIME', summary: 'End of the link: 7d, 12h or an ISO 8601 time' },
    ...linkFlags,
  ],
  notes: ['Capture options are flags, as for `tintype shot`: `tintype --help options`.'],
  async run(context) {
    const { settings } = context
    const key = context.text('link-key') ?? settings.linkKey
    const secret = context.text('link-secret') ?? settings.linkSecret
    if (settings.url === undefined)
      throw new CliError('the URL of the service is not set. Set TINTYPE_URL, or add --server.', EXIT.unreachable)
    if (key === undefined || secret === undefined) {
      throw new UsageError(
        'the key id or the link secret is missing. Set TINTYPE_LINK_KEY and TINTYPE_LINK_SECRET, or store them with `tintype config set`.',
      )
    }
    const params = { ...toCaptureOptions(context.parsed), url: toUrl(context.argument(0)) } as LinkParameters
    const expires = context.text('expires')
    const signed = await signLink({
      ...{ baseUrl: settings.url, key, secret, params },
      ...(expires === undefined ? {} : { expires: toExpiry(expires, context.world.now()) }),
    })
    if (context.isOn('json')) context.printJson({ url: signed })
    else context.print(signed)
    return EXIT.ok
  },
}
