/** The Debian packages that the cluster needs, installed when missing. Their services are neither started nor enabled: the cluster runs its own. */
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { run, succeeds } from './exec.ts'
import { type Report, StepError } from './steps.ts'

const packages = [
  'buildah',
  'containerd',
  'containernetworking-plugins',
  'conntrack',
  'gcc',
  'golang-github-containers-common', // seccomp.json
  'iproute2',
  'iptables',
  'libc6-dev',
  'mmdebstrap',
  'nftables',
  'openssl',
  'patch',
  'procps',
  'runc',
  'skopeo',
  'slirp4netns',
  'util-linux',
]
const services = ['containerd.service', 'nginx.service']
const policyFile = '/usr/sbin/policy-rc.d'

/** Packages that tests on the host need besides: the browser that the images have, fonts for it, and a reverse proxy. */
export const testPackages = [
  'chromium-headless-shell',
  'fonts-crosextra-caladea',
  'fonts-crosextra-carlito',
  'fonts-dejavu-core',
  'fonts-liberation',
  'fonts-noto-cjk',
  'fonts-noto-color-emoji',
  'fonts-noto-core',
  'nginx',
  'python3-venv',
]

/** Installs what is missing of the cluster's packages and of `more`. @throws StepError when it cannot. */
export async function ensurePackages(report: Report, more: readonly string[] = []): Promise<string> {
  requireRoot()
  const missing = await findMissing([...packages, ...more])
  if (missing.length === 0) return 'already installed'
  if (!(await succeeds('apt-get', ['--version']))) {
    throw new StepError('this machine has no apt-get', {
      remedy: 'use Debian or Ubuntu, or TINTYPE_CLUSTER=current with a cluster of your own',
    })
  }
  const disabled = await findDisabledServices()
  try {
    report('reading package lists')
    await aptGet(['update'])
    report(`installing ${missing.length}`)
    await withoutServices(async () => {
      await run('dpkg', ['--configure', '-a'], { environment: { DEBIAN_FRONTEND: 'noninteractive' } }) // an interrupted run may have left it half done
      await aptGet(['install', '-y', '--no-install-recommends', ...missing])
    })
  } catch (cause) {
    const remedy = `see that this works: apt-get install ${missing.join(' ')}`
    throw new StepError('packages could not be installed', { remedy, cause })
  }
  for (const service of disabled) await succeeds('systemctl', ['disable', service])
  return `${missing.length} installed`
}

/** @throws StepError unless the process is root: namespaces, mounts and containerd need it. */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return
  throw new StepError('the embedded cluster needs root', {
    remedy: 'run it as root (sudo), or set TINTYPE_CLUSTER=current to use a cluster of your own',
  })
}

/** The lines of dpkg-query that say `ii <name>` are installed packages. */
export function missingOf(wanted: readonly string[], dpkgOutput: string): string[] {
  const installed = new Set(dpkgOutput.split('\n').flatMap((line) => /^ii\s+(\S+)/.exec(line)?.[1] ?? []))
  return wanted.filter((name) => !installed.has(name))
}

async function findMissing(wanted: readonly string[]): Promise<string[]> {
  // dpkg-query fails when it does not know one of the names; what it prints of the others counts.
  const query = `dpkg-query -W -f '\${db:Status-Abbrev} \${Package}\\n' ${wanted.join(' ')} 2>/dev/null || true`
  return missingOf(wanted, await run('sh', ['-c', query]))
}

/** Services that were not enabled before, so that the installation must not leave them enabled. */
async function findDisabledServices(): Promise<string[]> {
  const states = await Promise.all(services.map((service) => succeeds('systemctl', ['is-enabled', '--quiet', service])))
  return services.filter((_, index) => !states[index])
}

/** Debian starts a service when its package is installed, unless this file says no. */
async function withoutServices(install: () => Promise<void>): Promise<void> {
  const isForeign = await access(policyFile).then(
    async () => !(await readFile(policyFile, 'utf8')).includes('tintype'),
    () => false,
  )
  if (isForeign) return install()
  await writeFile(policyFile, '#!/bin/sh\n# Made by tintype for one installation; it may be removed.\nexit 101\n', { mode: 0o755 })
  try {
    await install()
  } finally {
    await rm(policyFile, { force: true })
  }
}

async function aptGet(args: string[]): Promise<void> {
  await run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=600', ...args], { environment: { DEBIAN_FRONTEND: 'noninteractive' } })
}
