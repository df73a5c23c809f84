/** Collects the license texts of an image from its files: npm packages and Go modules from its notices, Debian packages from their copyright files. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { DebianPackage, ImageParts } from './sbom.ts'

/** Notices that images contain. */
const OWN_NOTICES = ['app/THIRD_PARTY_NOTICES', 'licenses/LICENSE', 'licenses/NOTICE', 'licenses/THIRD_PARTY_NOTICES']

const rule = '='.repeat(80)

/** The text of all notices of an image, below `root`. @throws when a Debian package has no copyright file */
export async function buildNotices(root: string, { image, version, platform, debian, go }: ImageParts): Promise<string> {
  const own = await Promise.all(OWN_NOTICES.map((file) => readFile(path.join(root, file), 'utf8').catch(() => undefined)))
  const texts = own.filter((text) => text !== undefined)
  const modules = go.map((module) => `${module.name} ${module.version}`)
  return [
    `Notices of ${image} ${version} for ${platform}.\n`,
    ...texts,
    ...(modules.length > 0 ? [`${rule}\nGo modules in the program:\n\n${modules.join('\n')}\n`] : []),
    ...(await Promise.all(debian.map((entry) => readCopyright(root, entry)))),
  ].join('\n')
}

async function readCopyright(root: string, { name, version, source, sourceVersion }: DebianPackage): Promise<string> {
  const file = path.join(root, 'usr/share/doc', name, 'copyright')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`the Debian package ${name} has no copyright file in the image: keep /usr/share/doc/*/copyright`, { cause })
  })
  return `${rule}\n${name} ${version} (source ${source} ${sourceVersion})\n\n${text}`
}
