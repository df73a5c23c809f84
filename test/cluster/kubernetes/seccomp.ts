/**
 * The seccomp profile that lets Chromium put its own sandbox up in a pod without capabilities. It starts from the profile that Debian's
 * containers use, as the kubelet would apply it to such a pod, and opens what making and entering a user namespace takes.
 */

/** A rule of the profile that containers/common ships: rules may depend on the container's capabilities and architecture. */
interface ConditionalRule {
  names: string[]
  action: string
  args?: unknown[]
  errnoRet?: number
  includes?: { caps?: string[]; arches?: string[]; minKernel?: string }
  excludes?: { caps?: string[]; arches?: string[] }
}

export interface ConditionalProfile {
  defaultAction: string
  defaultErrnoRet?: number
  archMap: { architecture: string; subArchitectures: string[] | null }[]
  syscalls: ConditionalRule[]
}

/** System calls of Chromium's sandbox and the runner's jail inside their own user namespace, where the kernel confines them. */
const forNamespaces = ['chroot', 'clone', 'clone3', 'mount', 'pivot_root', 'sethostname', 'setns', 'umount', 'umount2', 'unshare']

/**
 * The kubelet hands a Localhost profile to runc as it is, and runc knows no conditions: they are decided here, for a pod with all
 * capabilities dropped.
 * @param architecture as the profile names it: `amd64`, `arm64`
 */
export function buildChromiumProfile(source: ConditionalProfile, architecture: string) {
  const rules = source.syscalls.filter((rule) => appliesWithoutCapabilities(rule, architecture))
  const withoutOurs = rules.map(({ names, action, args, errnoRet }) => ({
    names: names.filter((name) => !forNamespaces.includes(name)),
    action,
    ...(args && args.length > 0 ? { args } : {}),
    ...(errnoRet === undefined ? {} : { errnoRet }),
  }))
  const machine = architecture === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'
  const architectures = source.archMap.find((entry) => entry.architecture === machine)
  return {
    defaultAction: source.defaultAction,
    ...(source.defaultErrnoRet === undefined ? {} : { defaultErrnoRet: source.defaultErrnoRet }),
    architectures: [machine, ...(architectures?.subArchitectures ?? [])],
    syscalls: [...withoutOurs.filter((rule) => rule.names.length > 0), { names: forNamespaces, action: 'SCMP_ACT_ALLOW' }],
  }
}

function appliesWithoutCapabilities({ includes, excludes }: ConditionalRule, architecture: string): boolean {
  if (includes?.caps?.length) return false
  if (includes?.arches?.length && !includes.arches.includes(architecture)) return false
  return !excludes?.arches?.includes(architecture)
}
