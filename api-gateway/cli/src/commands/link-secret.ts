import { TintypeError } from '../../../client/src/index.ts'
import { CliError, EXIT } from '../common/errors.ts'
import { requireService } from '../settings/settings.ts'
import type { Context } from './context.ts'

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
export async function findLinkSigner(context: Context): Promise<LinkSigner> {
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
