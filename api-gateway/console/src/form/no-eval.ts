import { z } from 'zod'

// The page's policy forbids code from text. This module loads before the schemas, so that zod never tries it.
z.config({ jitless: true })
