/** Platforms of images, and how a machine builds an image of the other one: with its native npm packages, and with emulation of its programs. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { run, succeeds } from '../host/exec.ts'
import { fillOnce } from '../host/fill-once.ts'
import { cache, repository } from '../host/state.ts'
import { type Report, StepError } from '../host/steps.ts'

/** Name of a platform in image registries, Debian and Go. */
export type Platform = 'amd64' | 'arm64'

export const platforms: readonly Platform[] = ['amd64', 'arm64']

/** The platform of this machine. */
export const hostPlatform: Platform = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** Debian packages that run programs of other platforms. */
export const emulationPackages = ['arch-test', 'qemu-user-static']

/** The platform's name in npm. */
const npmCpu = (platform: Platform): string => (platform === 'amd64' ? 'x64' : platform)

/** True unless package.json limits the package to other processors. */
export const isForPlatform = ({ cpu }: { cpu?: string[] }, platform: Platform): boolean =>
  cpu === undefined || cpu.includes(npmCpu(platform))

const binfmt = '/proc/sys/fs/binfmt_misc'
const qemuNames: Readonly<Record<Platform, string>> = { amd64: 'x86_64', arm64: 'aarch64' }

/** Lets the kernel run programs of this platform. @throws StepError when it cannot */
export async function ensureRunnable(platform: Platform): Promise<string> {
  if (platform === hostPlatform) return 'native'
  if (await succeeds('arch-test', [platform])) return 'emulated'
  // systemd does the same at the start of a machine. Containers and small virtual machines have no systemd.
  await succeeds('sh', ['-c', `mountpoint --quiet ${binfmt} || mount -t binfmt_misc binfmt_misc ${binfmt}`])
  await succeeds('sh', ['-c', `cat /usr/lib/binfmt.d/qemu-${qemuNames[platform]}.conf >${binfmt}/register`])
  if (await succeeds('arch-test', [platform])) return 'emulated'
  throw new StepError(`this machine cannot run programs of ${platform}`, {
    remedy: `load the kernel module binfmt_misc, build on a machine with ${platform}, or choose other platforms with --platforms`,
  })
}

const storeOf = (platform: Platform): string => path.join(cache, 'npm', `linux-${platform}`)

/** Directory of a native package that `ensureForeignPackages` downloaded, or undefined. */
export async function findForeignPackage(name: string, platform: Platform): Promise<string | undefined> {
  if (platform === hostPlatform) return undefined
  const { packages } = await readLock()
  const version = packages[`node_modules/${name}`]?.version
  const directory = path.join(storeOf(platform), `${name}@${version}`)
  return existsSync(path.join(directory, 'package.json')) ? directory : undefined
}

interface LockEntry {
  version?: string
  integrity?: string
  cpu?: string[]
  os?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const readLock = async (): Promise<{ packages: Record<string, LockEntry> }> =>
  JSON.parse(await readFile(path.join(repository, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockEntry> }

/** Names of the native packages for Linux with glibc that these packages need on a platform. */
export function nativePackagesOf(names: readonly string[], packages: Readonly<Record<string, LockEntry>>, platform: Platform): string[] {
  const optional = names.flatMap((name) => Object.keys(packages[`node_modules/${name}`]?.optionalDependencies ?? {}))
  return optional.filter((name) => {
    const { cpu, os, libc = ['glibc'] } = packages[`node_modules/${name}`] ?? {}
    return cpu?.includes(npmCpu(platform)) && os?.includes('linux') && libc.includes('glibc')
  })
}

/** Downloads the native packages of another platform, in the versions and with the checksums of package-lock.json. */
export async function ensureForeignPackages(names: readonly string[], platform: Platform, report: Report): Promise<void> {
  if (platform === hostPlatform) return
  const { packages } = await readLock()
  for (const name of nativePackagesOf(names, packages, platform)) {
    const { version, integrity } = packages[`node_modules/${name}`]!
    report(`downloading ${name}`)
    await ensureNpmPackage(name, version!, path.join(storeOf(platform), `${name}@${version}`), integrity)
  }
}

/** Path of Node.js for a platform, in this process's version. */
export async function ensureNode(platform: Platform): Promise<string> {
  const version = process.version.slice(1)
  const directory = path.join(storeOf(platform), `node@${version}`)
  await ensureNpmPackage(`node-linux-${npmCpu(platform)}`, version, directory)
  return path.join(directory, 'bin/node')
}

/** Unpacks a package into a directory, unless it exists. @throws when the checksum differs */
async function ensureNpmPackage(name: string, version: string, directory: string, integrity?: string): Promise<void> {
  await fillOnce(directory, async (draft) => {
    const args = ['pack', `${name}@${version}`, '--json', '--loglevel=error', '--pack-destination', draft]
    const [{ filename }] = JSON.parse(await run('npm', args)) as [{ filename: string }]
    const archive = path.join(draft, path.basename(filename))
    const digest = `sha512-${createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')}`
    if (integrity !== undefined && digest !== integrity) {
      throw new Error(`${name}@${version} has the checksum ${digest}, but package-lock.json has ${integrity}: do not use it`)
    }
    await run('tar', ['--extract', '--no-same-owner', '--strip-components=1', '--file', archive, '--directory', draft])
    await rm(archive)
  })
}
