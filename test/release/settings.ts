import path from 'node:path'
import { parseArgs } from 'node:util'
import { repository } from '../cluster/host/state.ts'
import { type Platform, platforms } from '../cluster/images/platforms.ts'

/** Settings of one release. */
export interface ReleaseSettings {
  /** Registry and path of the images, such as `ghcr.io/acme/tintype`. The chart is `<registry>/charts/tintype`. */
  registry: string
  /** True to push images, chart and signatures to the registry. */
  isPushed: boolean
  platforms: readonly Platform[]
  /** Directory of the files of the release. Its earlier content is removed. */
  output: string
  /** Private key of cosign, whose password is in COSIGN_PASSWORD. Absent: nothing is signed. */
  key: string | undefined
  /** URL of the repository on GitHub, whose releases have the files. */
  source: string | undefined
  /** True to use layers of earlier builds. */
  isCached: boolean
  /** Names of images. Absent: all. */
  only: readonly string[] | undefined
}

/** The text of `--help`. */
export const help = `npm run release -- --registry REGISTRY [options]

Builds a release: images with SBOMs and notices, the Helm chart, an archive for clusters without internet, a krew manifest, checksums and a
release page. Writes all files to one directory. Needs root and Debian, as \`npm run images\` does.

  --registry R      registry and path of the images, such as ghcr.io/acme/tintype; the chart becomes oci://R/charts/tintype
  --push            also pushes images, chart and signatures there; log in before with skopeo, helm and cosign
  --key FILE        private key of cosign, which signs everything; its password is in COSIGN_PASSWORD
  --source URL      repository on GitHub, such as https://github.com/acme/tintype, for the krew manifest and labels
  --platforms LIST  ${platforms.join(',')} (default); emulation builds the other platform, which takes many times as long
  --only LIST       only these images, for a trial
  --cached          uses layers of earlier builds, for a trial; without it, each release has the newest Debian packages
  --output DIR      default: .tintype/release
  --help            this text
`

const options = {
  registry: { type: 'string' },
  push: { type: 'boolean', default: false },
  key: { type: 'string' },
  source: { type: 'string' },
  platforms: { type: 'string', default: platforms.join(',') },
  only: { type: 'string' },
  cached: { type: 'boolean', default: false },
  output: { type: 'string', default: path.join(repository, '.tintype/release') },
  help: { type: 'boolean', default: false },
} as const

/** Host with an optional port, and a path in lower case, as registries take it. */
const REGISTRY = /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9]+([._-][a-z0-9]+)*)+$/

/** Reads the command line. Undefined: print the help. @throws with the invalid value */
export function parseSettings(args: string[]): ReleaseSettings | undefined {
  const { values } = parseArgs({ args, options })
  if (values.help) return undefined
  const { registry } = values
  if (registry === undefined)
    throw new Error('--registry is missing: name where the images will be, such as --registry ghcr.io/acme/tintype')
  if (!REGISTRY.test(registry))
    throw new Error(`--registry ${registry} is not a host and a path in lower case: write it like ghcr.io/acme/tintype, without https://`)
  const names = values.platforms.split(',')
  const unknown = names.filter((name) => !platforms.some((platform) => platform === name))
  if (unknown.length > 0) throw new Error(`--platforms ${unknown.join(',')} is unknown: choose from ${platforms.join(',')}`)
  return {
    registry,
    isPushed: values.push,
    platforms: platforms.filter((platform) => names.includes(platform)),
    output: path.resolve(values.output),
    key: values.key === undefined ? undefined : path.resolve(values.key),
    source: readSource(values.source),
    isCached: values.cached,
    only: values.only?.split(','),
  }
}

function readSource(source: string | undefined): string | undefined {
  if (source === undefined) return undefined
  if (!URL.canParse(source) || !source.startsWith('https://'))
    throw new Error(`--source ${source} is not a URL that starts with https://: write it like https://github.com/acme/tintype`)
  return source.replace(/\/$/, '')
}

/** True for a registry on this machine, which has no TLS. */
export const isLoopback = (registry: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+)(:|\/)/.test(registry)
