// Node.js runs this before the plugin. Pulumi's SDK loads two packages that only programs
// with functions of their own need, whose source it reads: TypeScript's compiler, and npm's
// reader of dependencies. They are a good part of a start of the plugin, which never uses
// them: each is loaded when one of its properties is read for the first time.
//
// Pulumi's SDK also writes down the stack of calls of every promise, for messages about those
// that never end. With source maps each stack is translated into lines of TypeScript, a fifth
// of the plugin's processor time: here stacks name the lines that run.
"use strict";
const Module = require("module");

const onUse = /^@npmcli\/arborist$|(^|\/)typescript(\.js)?$/;
const load = Module._load;

Module._load = function (request, parent, isMain) {
    if (request === "source-map-support") {
        return { install: () => {} };
    }
    if (!onUse.test(request)) {
        return load.call(this, request, parent, isMain);
    }
    // One that is not there fails here: the SDK then takes its own TypeScript.
    Module._resolveFilename(request, parent, isMain);
    let loaded;
    const whole = () => (loaded ??= load.call(Module, request, parent, isMain));
    return new Proxy({}, {
        // The SDK asks this before all else, whether it has to copy the package.
        get: (_, key) => (key === "__esModule" ? true : whole()[key]),
        has: (_, key) => key in whole(),
    });
};
