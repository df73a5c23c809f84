/** Runs buildah and skopeo on a separate store in the cache. The machine's images stay untouched, and the store is easy to delete. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandError, type RunOptions, run } from '../host/exec.ts'
import { imagesDirectory, runDirectory } from '../host/state.ts'

const settings = path.join(imagesDirectory, 'storage.conf')

/** Runs buildah. @throws CommandError with what it printed. */
export async function buildah(args: readonly string[], options: RunOptions = {}): Promise<string> {
  return run('nice', ['buildah', ...args], { ...options, environment: { ...options.environment, ...(await storeEnvironment()) } })
}

/** Runs skopeo. @throws CommandError with what it printed. */
export async function skopeo(args: readonly string[]): Promise<string> {
  return run('nice', ['skopeo', ...args], { environment: await storeEnvironment() })
}

/** The id of a stored image, or undefined. */
export async function findImageId(reference: string): Promise<string | undefined> {
  try {
    return await inspectImage(reference, '{{.FromImageID}}')
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

/** One property of a stored image, by a Go template. */
export async function inspectImage(reference: string, template: string): Promise<string> {
  return (await buildah(['inspect', '--type', 'image', '--format', template, reference])).trim()
}

let written: Promise<void> | undefined

/** Overlays cannot be stacked, for example inside a container. The store then keeps complete copies. */
async function storeEnvironment(): Promise<Record<string, string>> {
  written ??= writeSettings()
  await written
  return { CONTAINERS_STORAGE_CONF: settings }
}

async function writeSettings(): Promise<void> {
  await mkdir(imagesDirectory, { recursive: true })
  const kind = (await run('stat', ['-f', '-c', '%T', imagesDirectory])).trim()
  const driver = kind === 'overlayfs' ? 'vfs' : 'overlay'
  const places = `graphroot = "${path.join(imagesDirectory, 'store')}"\nrunroot = "${runDirectory}-images"\n`
  await writeFile(settings, `[storage]\ndriver = "${driver}"\n${places}`)
}
