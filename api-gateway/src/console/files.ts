import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'

// The built files of the web console. api-gateway/console/build.ts writes them, each also compressed.

const ENCODINGS = { br: '.br', gzip: '.gz' } as const
type Encoding = keyof typeof ENCODINGS

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file whose name contains a hash of its content. */
interface ConsoleAsset {
  type: string
  path: string
  encodings: readonly Encoding[]
}

export interface ConsoleFiles {
  page: Buffer
  /** Entity tag of the page. */
  tag: string
  /** By file name. */
  assets: ReadonlyMap<string, ConsoleAsset>
}

/** Reads the directory. Returns undefined if it has no page, as when the gateway runs from its sources, whose folder has this name too. */
export async function openConsoleFiles(directory: string): Promise<ConsoleFiles | undefined> {
  const index = path.join(directory, 'index.html')
  const found = await stat(index).catch(() => undefined)
  if (!found?.isFile()) return undefined
  const page = await readFile(index)
  const folder = path.join(directory, 'assets')
  const names = new Set(await readdir(folder))
  const assets = [...names].flatMap((name): [string, ConsoleAsset][] => {
    const type = TYPES[path.extname(name)]
    const encodings = (Object.keys(ENCODINGS) as Encoding[]).filter((encoding) => names.has(name + ENCODINGS[encoding]))
    return type === undefined ? [] : [[name, { type, path: path.join(folder, name), encodings }]]
  })
  return { page, tag: `"${createHash('sha256').update(page).digest('base64url').slice(0, 22)}"`, assets: new Map(assets) }
}

/** The smallest form of an asset that the client accepts. */
export function chooseForm({ path: file, encodings }: ConsoleAsset, accept = ''): { path: string; encoding?: Encoding } {
  const encoding = encodings.find((one) => new RegExp(`\\b${one}\\b`).test(accept))
  return encoding === undefined ? { path: file } : { path: file + ENCODINGS[encoding], encoding }
}

/**
 * Security headers of the console's page. Only its own scripts run, nothing can be framed, and pictures and videos may come from the public origin
 * of the object store. Trusted Types block every script that a text of a page could become.
 */
export function toPageHeaders(storeOrigin: string | undefined): Readonly<Record<string, string>> {
  const files = storeOrigin === undefined ? "'self'" : `'self' ${storeOrigin}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${files} blob: data:`,
    `media-src ${files}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  }
}
