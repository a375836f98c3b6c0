// Starts `arrc lsp` and connects the editor with it.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = function () {
  const command = workspace.getConfiguration('arrc').get('command', 'arrc');
  const server = { command, args: ['lsp'] };
  const options = { documentSelector: [{ language: 'futhark' }] };
  client = new LanguageClient('arrc', 'arrc', server, options);
  return client.start();
};

exports.deactivate = function () {
  return client ? client.stop() : undefined;
};
