import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { TintypeError } from '../../../client/src/index.ts'
import { CliError } from '../common/errors.ts'
import { requireService } from '../settings/settings.ts'
import type { Command, Context } from './context.ts'

/** Programs that open a URL, by platform. Others have xdg-open, or none. */
const OPENERS: Readonly<Record<string, readonly string[]>> = { darwin: ['open'], win32: ['explorer'] }

/** Opens a URL in the browser. The link is also printed, so nothing is lost on a machine without one. */
function openInBrowser(url: string): void {
  const [program = 'xdg-open'] = OPENERS[process.platform] ?? []
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

interface Code {
  data?: { path: string; expires_at: string }
  error?: { code: string; message: string }
}

/** Asks the console for a sign-in link. It is not part of the REST API, so the client has no call for it. */
async function issueLink({ settings, world: { signal } }: Context): Promise<{ url: string; expires_at: string }> {
  const { url, apiKey } = requireService(settings)
  const base = url.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '')
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' }
  const response = await fetch(`${base}/console/codes`, { method: 'POST', headers, signal }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new TintypeError('the connection failed', { code: 'CONNECTION_FAILED', cause })
  })
  const { data, error } = (await response.json().catch(() => ({}))) as Code
  if (data !== undefined) return { url: base + data.path, expires_at: data.expires_at }
  if (response.status === 404) throw new CliError(`${base} has no web console: an administrator has switched it off.`)
  throw new TintypeError(error?.message ?? 'the response is not one of Tintype', {
    code: error?.code ?? 'INVALID_RESPONSE',
    status: response.status,
  })
}

export const open: Command = {
  name: 'open',
  summary: 'Prints a link that signs in to the web console, and opens it',
  flags: [{ name: 'no-browser', kind: 'boolean', summary: 'Only prints the link' }],
  notes: ['The link signs in with your API key. It works once, for ten minutes.'],
  async run(context) {
    const { signal, stdout } = context.world
    const link = await issueLink(context)
    context.show(link, link.url)
    if (stdout.isTerminal && !context.isOn('no-browser')) openInBrowser(link.url)
    if (context.isForwarded) {
      context.note('The console works while this program runs. Press Ctrl+C to end it.')
      if (!signal.aborted) await once(signal, 'abort')
    }
  },
}
