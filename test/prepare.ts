import { runCommand } from './cluster/command.ts'
import { testPackages } from './cluster/packages.ts'
import { runSteps } from './cluster/steps.ts'
import { toolSteps } from './cluster/up.ts'

// What tests without a cluster need: Debian's packages, the Kubernetes programs and MinIO, built once.
await runCommand(() => runSteps(toolSteps(testPackages)))
