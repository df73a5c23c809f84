import { chartToolSteps } from './chart/tools.ts'
import { runCommand } from './cluster/command.ts'
import { testPackages } from './cluster/packages.ts'
import { runSteps } from './cluster/steps.ts'
import { toolSteps } from './cluster/up.ts'
import { ensurePythonTools } from './fuzz/python-tools.ts'

// What tests without a cluster need: Debian's packages, the Kubernetes programs and MinIO, built once; programs from PyPI; the chart's checkers.
await runCommand(() => runSteps([...toolSteps(testPackages), { name: 'Python tools', run: () => ensurePythonTools() }, ...chartToolSteps]))
